import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { routePaths } from "../../../src/core/health/route.ts";
import { readUncompared } from "../../../src/tools/compare/haproxy-directives.ts";

/** Lines of `backend b`, after those of `defaults`, and the directives that are named. */
const rows: readonly (readonly [defaults: string, lines: string, named: readonly string[]])[] = [
  ["", "option httpchk GET /primary\nhttp-check expect status 200\nserver pg1 10.0.0.1:5432 check port 8008", []],
  ["option httpchk GET /primary", "server pg1 10.0.0.1:5432 check", []],
  ["", "server pg1 10.0.0.1:5432 check port 8008\nserver pg2 10.0.0.2:5432 check", ["server pg1 check"]],
  ["", "default-server check\nserver pg1 10.0.0.1:5432", ["server pg1 check"]],
  ["default-server check", "server pg1 10.0.0.1:5432\nserver pg2 10.0.0.2:5432 no-check", ["server pg1 check"]],
  ["", "server pg1 10.0.0.1:5432", []],
  ["", "server pg1 10.0.0.1:5432 check\noption httpchk GET /primary", []],
  ["option httpchk GET /primary", "no option httpchk\nserver pg1 10.0.0.1:5432 check", ["server pg1 check"]],
  ["", "option pgsql-check user postgres\nserver pg1 10.0.0.1:5432 check", ["option pgsql-check"]],
  ["", "option tcp-check\ntcp-check expect string 200", ["option tcp-check", "tcp-check expect"]],
  ["", "option httpchk /primary", []],
  ["", "option httpchk OPTIONS /replica?lag=1MB", []],
  ["", "option httpchk HEAD /sync/ HTTP/1.1\\r\\nHost:\\ x", []],
  ["", "option httpchk OPTIONS /", []],
  ["", "option httpchk OPTIONS", []],
  ["", "option httpchk OPTIONS /clusters/demo/nodes/pg1/primary", []],
  ["", "option httpchk\nhttp-check send meth OPTIONS uri-lf /nodes/%[srv_name]/replica", []],
  ["", "http-check send meth HEAD hdr Host x", []],
  ["", "option httpchk /liveness", ["option httpchk (OPTIONS)"]],
  ["", "option httpchk HEAD /nodes/pg1/readiness?x=1", ["option httpchk (HEAD)"]],
  ["", "option httpchk GET /liveness", []],
  ["", "option httpchk HEAD /patroni", ["option httpchk (HEAD)"]],
  ["", "option httpchk POST /primary", ["option httpchk (POST)"]],
  ["", "option httpchk\nhttp-check send meth GET uri /primary hdr Host x", []],
  [
    "",
    "http-check send meth HEAD uri /p hdr X-A b body x",
    ["http-check send meth (HEAD)", "http-check send hdr X-A", "http-check send body"],
  ],
  ["", "http-check expect status 200-399\nhttp-check expect rstatus ^200$\nhttp-check expect ! rstatus ^[45]", []],
  ["", "http-check expect status 200,503", ["http-check expect status 200,503"]],
  ["", "http-check expect ! status 500", ["http-check expect ! status 500"]],
  ["", "http-check expect rstatus (", ["http-check expect rstatus ("]],
  ["", 'http-check expect comment x min-recv 5 string "role\\": \\"primary"', ["http-check expect string"]],
  [
    "",
    "http-check expect ! rstring replica\nhttp-check expect hdr name x",
    ["http-check expect ! rstring", "http-check expect hdr"],
  ],
  [
    "",
    "http-check disable-on-404\nhttp-check send-state\nhttp-check connect ssl",
    ["http-check disable-on-404", "http-check send-state", "http-check connect"],
  ],
  [
    "",
    "default-server agent-check observe layer4\nserver verify 10.0.0.1:1 track a/b",
    ["default-server … agent-check", "default-server … observe", "server … track"],
  ],
  ["", "server observe 10.0.0.1:1 # check", []],
  [
    "option httpchk GET /primary",
    "server-template pg 3 _patroni._tcp.db.lab check port 8008 track a/b",
    ["server-template pg 3", "server-template … track"],
  ],
  ["", "server-template pg 1-40 db.lab:5432 check", ["server-template pg 1-40", "server-template pg check"]],
];

for (const [defaults, lines, named] of rows)
  test(`names what compare does not compare: ${JSON.stringify(lines)} after ${JSON.stringify(defaults)}`, () => {
    const text = `global\n  log x\ndefaults\n${defaults}\nbackend b\n${lines}\n`;
    const found = readUncompared(text);
    assert.deepEqual(
      found.map(({ directive }) => directive),
      named,
    );
    for (const { section, line, why } of found) {
      assert.equal(section, "backend b");
      assert.ok(line >= 6 && why !== "");
    }
  });

test("names HEAD and OPTIONS for the routes to which recorded nodes answer otherwise than to GET, and for no other", () => {
  const folder = "test/vectors/node-api/4.1.5";
  const differing = new Set<string>();
  let compared = 0;
  for (const file of readdirSync(folder)) {
    const { answers, methods } = JSON.parse(readFileSync(join(folder, file), "utf8")) as Recording;
    for (const [method, nodes] of Object.entries(methods))
      for (const [node, statuses] of Object.entries(nodes))
        for (const [path, status] of Object.entries(statuses)) {
          const byGet = answers[node]?.[path];
          if (byGet === undefined || byGet === null || status === null) continue;
          compared += 1;
          if (status !== byGet) differing.add(`${method} ${path}`);
        }
  }
  assert.ok(compared > 1_000, `${compared} answers`);
  for (const method of ["HEAD", "OPTIONS"])
    for (const path of routePaths()) {
      const found = readUncompared(`backend b\noption httpchk ${method} ${path}\n`);
      const isNamed = differing.has(`${method} ${path}`);
      assert.deepEqual(
        found.map(({ why, action }) => [why, action]),
        isNamed ? [[`nodes answer ${method} ${path} with 503 always`, "Use GET"]] : [],
      );
    }
});

/** What of a recording is read here: the status by node and path, and by method. */
interface Recording {
  readonly answers: Readonly<Record<string, Readonly<Record<string, number | null>>>>;
  readonly methods: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, number | null>>>>>>;
}

for (const [range, positions] of [
  ["1", "its servers pg1 are"],
  ["3", "its servers pg1, pg2, pg3 are"],
  ["5-7", "its servers pg5, pg6, pg7 are"],
  ["1-40", "its servers pg1, pg2, pg3, …, pg40 are"],
  ["x", "its servers are"],
])
  test(`names the template and its positions: server-template pg ${range}`, () => {
    const [found] = readUncompared(
      `backend b\noption httpchk GET /primary\nserver-template pg ${range} _pg._tcp.db.lab`,
    );
    assert.ok(found?.why.startsWith(`${positions} positions that HAProxy fills from _pg._tcp.db.lab`), found?.why);
  });
