import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { after, suite, test } from "node:test";
import type { ExporterRole } from "../../../src/core/cluster/exporter/exporter-report.ts";
import { ExporterApi, type ExporterApiContext } from "../../../src/features/exporter/exporter-pages.ts";
import { ExporterRoles, type ExporterRolesContext } from "../../../src/features/exporter/exporter-roles.ts";
import type { RequestHandler } from "../../../src/core/http/message/handler.ts";
import type { Drain } from "../../../src/core/cluster/drain.ts";
import { withDrains } from "../../../src/core/health/observe/observe.ts";
import { Listener } from "../../../src/core/http/listener/listener.ts";
import { unrestrictedAccess } from "../../../src/core/config/model/listener-access-config.ts";
import { PageGate } from "../../../src/core/http/pages/page-gate.ts";
import { collectErrors } from "../../fake/node-api-listener.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

interface Table {
  readonly paths: Readonly<Record<"up" | "primary" | "replica", readonly string[]>>;
  readonly statuses: Readonly<Record<ExporterRole, Readonly<Record<"up" | "primary" | "replica", number>>>>;
  readonly methods: readonly string[];
  readonly otherPaths: readonly string[];
  readonly samePaths: Readonly<Record<string, string>>;
}

const table = JSON.parse(readFileSync("test/spec/exporter-dialect.json", "utf8")) as Table;

/** A cluster whose node pg1 has a role state, and whose other nodes never reported. */
const setups: Readonly<Record<ExporterRole, (watched: ClusterFixture) => void>> = {
  primary: (watched) => watched.lead("pg1", 1_000),
  replica: (watched) => watched.follow("pg1", 1_000),
  down: (watched) => watched.answer("pg1", { fields: { state: "stopped" } }, 1_000),
  starting: (watched) => watched.answer("pg1", { fields: { state: "starting" } }, 1_000),
  unknown: () => {},
};

type Sources = ExporterApiContext & ExporterRolesContext;

function sourcesOf(watched: ClusterFixture, rest: Partial<Sources> = {}): Sources {
  return {
    inputs: () => ({
      snapshot: { instance: "run", sequence: 1, clusters: [watched.cluster], index: new Map([["demo", 0]]) },
      policy: () => watched.policy,
      nowMs: 1_500,
      unready: () => null,
    }),
    gate: new PageGate(),
    metrics: () =>
      Promise.resolve({
        pieces: [Buffer.from("a "), Buffer.from("1\n")],
        contentType: "text/plain; version=0.0.4; charset=utf-8",
      }),
    reload: () => Promise.resolve(null),
    explain: (cluster, node) => `explain ${cluster} ${node}`,
    stat: (cluster, node) => `stat ${cluster} ${node}`,
    version: () => "rolecall version v1",
    onAnswer: () => {},
    ...rest,
  };
}

interface Answer {
  readonly status: number;
  readonly type: string | undefined;
  readonly length: string | undefined;
  readonly allow: string | undefined;
  readonly body: string;
}

interface Opened {
  readonly ask: (path: string, method?: string) => Promise<Answer>;
  readonly close: () => Promise<void>;
}

async function open(sources: Sources, node: string | null = "pg1"): Promise<Opened> {
  const dialect = new ExporterApi({ cluster: "demo", node, telemetryPath: "/metrics" }, sources);
  const roles = new ExporterRoles({ cluster: "demo", node }, sources);
  const errors: unknown[] = [];
  const handler: RequestHandler = async (call) => roles.answer(call.request) ?? dialect.handle(call);
  const listener = new Listener(handler, unrestrictedAccess, collectErrors(errors));
  const port = await listener.open({ address: "127.0.0.1", port: 0 });
  return {
    ask: (path, method = "GET") =>
      new Promise((resolve, reject) => {
        const outgoing = request({ host: "127.0.0.1", port, path, method, agent: false }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => {
            const { "content-type": type, "content-length": length, allow } = response.headers;
            assert.deepEqual(errors, []);
            resolve({ status: response.statusCode ?? 0, type, length, allow, body: Buffer.concat(chunks).toString() });
          });
        });
        outgoing.on("error", reject).end();
      }),
    close: () => listener.close(0),
  };
}

for (const [state, setUp] of Object.entries(setups) as [ExporterRole, (watched: ClusterFixture) => void][]) {
  suite(
    `a node that is ${state} answers all 15 role paths, to every method, with its own state for a body`,
    async () => {
      const watched = new ClusterFixture();
      setUp(watched);
      const { ask, close } = await open(sourcesOf(watched));
      after(close);
      for (const [question, paths] of Object.entries(table.paths) as [
        "up" | "primary" | "replica",
        readonly string[],
      ][]) {
        for (const path of paths) {
          test(path, async () => {
            const status = table.statuses[state][question];
            for (const method of table.methods) {
              const answer = await ask(path, method);
              const expected = {
                status,
                type: "text/plain; charset=utf-8",
                length: String(state.length),
                allow: undefined,
              };
              assert.deepEqual(answer, { ...expected, body: method === "HEAD" ? "" : state }, method);
            }
          });
        }
      }
    },
  );
}

test("the table names exactly 15 paths", () => {
  const paths = Object.values(table.paths).flat();
  assert.equal(new Set(paths).size, 15);
});

suite("the other paths of an exporter", async () => {
  const watched = new ClusterFixture();
  watched.lead("pg1", 1_000);
  const reloads: string[] = [];
  const outcomes: (string | null)[] = [null, null, "rolecall.yaml:3: no"];
  const reload = (): Promise<string | null> => {
    reloads.push("reload");
    return Promise.resolve(outcomes[reloads.length - 1] ?? null);
  };
  const { ask, close } = await open(sourcesOf(watched, { reload }));
  after(close);

  test("are the same in other spellings", async () => {
    for (const [path, same] of Object.entries(table.samePaths))
      assert.deepEqual(await ask(path), await ask(same), path);
  });
  test("are 404 if unknown, so that a misspelt check fails", async () => {
    for (const path of table.otherPaths) assert.equal((await ask(path)).status, 404, path);
  });
  test("reload with GET and POST, and state why a reload failed", async () => {
    for (const method of ["GET", "POST"]) {
      const { status, body } = await ask("/reload", method);
      assert.deepEqual({ status, body }, { status: 200, body: "server reloaded" });
    }
    const { status, body } = await ask("/reload", "POST");
    assert.deepEqual({ status, body }, { status: 500, body: "fail to reload: rolecall.yaml:3: no" });
  });
  test("refuse every other method of /reload without reloading", async () => {
    const before = reloads.length;
    for (const method of ["HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"]) {
      const { status, allow, length, body } = await ask("/reload", method);
      const expected = {
        status: 405,
        allow: "GET, POST",
        length: "18",
        body: method === "HEAD" ? "" : "method not allowed",
      };
      assert.deepEqual({ status, allow, length, body }, expected, method);
    }
    assert.equal(reloads.length, before);
  });
  test("serve metrics, reports, version, and a link to the metrics", async () => {
    const rows = [
      ["/metrics", "text/plain; version=0.0.4; charset=utf-8", "a 1\n"],
      ["/explain", "text/plain; charset=utf-8", "explain demo pg1"],
      ["/stat", "text/plain; charset=UTF-8", "stat demo pg1"],
      ["/version", "text/plain; charset=utf-8", "rolecall version v1"],
    ] as const;
    for (const [path, type, body] of rows) {
      const answer = await ask(path);
      assert.deepEqual([answer.status, answer.type, answer.body], [200, type, body]);
      assert.deepEqual(await ask(path, "POST"), answer, path);
    }
    const landing = await ask("/");
    assert.equal(landing.type, "text/html; charset=UTF-8");
    assert.ok(landing.body.includes("<a href='/metrics'>Metrics</a>"));
    assert.deepEqual([(await ask("/livez")).status, (await ask("/readyz")).status], [200, 200]);
  });
});

suite("a listener for a whole cluster answers with the best role state of its nodes", () => {
  const rows: readonly [what: string, setUp: (watched: ClusterFixture) => void, state: ExporterRole][] = [
    ["primary, where there is one", (watched) => (watched.follow("pg2", 1_000), watched.lead("pg1", 1_001)), "primary"],
    ["replica, without a primary", (watched) => watched.follow("pg2", 1_000), "replica"],
    [
      "starting, where one starts and none runs",
      (watched) => watched.answer("pg2", { fields: { state: "starting" } }, 1_000),
      "starting",
    ],
    [
      "unknown, where some are down and others never reported",
      (watched) => watched.answer("pg2", { fields: { state: "stopped" } }, 1_000),
      "unknown",
    ],
    [
      "down, where all are",
      (watched) => {
        for (const name of ["pg1", "pg2", "pg3"]) watched.answer(name, { fields: { state: "stopped" } }, 1_000);
      },
      "down",
    ],
  ];
  for (const [what, setUp, state] of rows) {
    test(what, async () => {
      const watched = new ClusterFixture();
      setUp(watched);
      const { ask, close } = await open(sourcesOf(watched), null);
      try {
        assert.equal((await ask("/up")).body, state);
        assert.equal((await ask("/primary")).status, table.statuses[state].primary);
      } finally {
        await close();
      }
    });
  }
});

test("a drained replica is unfit for reads on the exporter's paths too", async () => {
  const watched = new ClusterFixture();
  watched.follow("pg1", 1_000);
  const drain: Drain = { reason: "reboot", by: null, extent: "replica", untilMs: 60_000, since: "", until: "" };
  watched.cluster = withDrains(watched.cluster, "pg1", { drain, nowMs: 1_000 });
  const { ask, close } = await open(sourcesOf(watched));
  try {
    assert.deepEqual([(await ask("/replica")).status, (await ask("/read")).status], [503, 503]);
  } finally {
    await close();
  }
});
