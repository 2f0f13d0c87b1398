import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { serveCannedAnswers, type CannedAnswer } from "../../fake/canned-server.ts";
import { runText } from "../../fake/command-line.ts";
import { listenUntilClosed } from "../../fake/listen.ts";
import { statusNode, unfitNode } from "../../fake/status-clusters.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";
import { assertValidHaproxy } from "../../fake/valid-haproxy.ts";

interface Outage {
  /** The names of the members that the nodes still list. */
  readonly listed: readonly string[];
  /** What the rolecall at the admin listener of the configuration answers to `/status`; `null`: none runs. */
  readonly status: CannedAnswer | null;
  /** Whether the running rolecall knows pg1 at the address of the seed. */
  readonly isSeedKnown?: boolean;
}

/** A configuration whose only seed lists members, as all of its nodes do once a dead member has left the DCS. */
async function configOf(context: TestContext, { listed, status, isSeedKnown = false }: Outage): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === "/cluster" ? 200 : 503);
    response.end(request.url === "/cluster" ? JSON.stringify({ scope: "demo", members }) : "{}");
  });
  const { port, close } = await listenUntilClosed(server);
  context.after(close);
  const members = listed.map((name) => ({
    name,
    role: "replica",
    api_url: apiOf(name, port),
    host: `10.0.0.${name.slice(2)}`,
    port: 5432,
  }));
  const known = isSeedKnown
    ? JSON.stringify(status).replace("127.0.0.1:1", `127.0.0.1:${port}`)
    : JSON.stringify(status);
  const running = await serveCannedAnswers(status === null ? {} : { "/status": JSON.parse(known) });
  if (status === null) await running.close();
  else context.after(() => running.close());
  const config = join(temporaryFolder("members"), "rolecall.yaml");
  const clusters = [{ name: "demo", discover: [`http://127.0.0.1:${port}`] }];
  const listen = [{ port: Number(new URL(running.url).port), dialect: "admin" }, { port: 8008 }];
  writeFileSync(config, JSON.stringify({ clusters, listen }));
  return config;
}

function apiOf(name: string, seed: number): string {
  return name === "pg1" ? `http://127.0.0.1:${seed}` : `http://127.0.0.1:${name.slice(2)}`;
}

/** What a running rolecall answers: pg1 to pg3, and pg3 is down for so long that no node lists it. */
function statusOf(cluster: string, host = "127.0.0.1"): CannedAnswer {
  const nodes = [
    statusNode("pg1", { role: "primary", api: `http://${host}:1`, database: "10.0.0.1:5432" }),
    statusNode("pg2", { api: `http://${host}:2`, database: "10.0.0.2:5432" }),
    unfitNode("pg3", "down", { api: `http://${host}:3`, database: "10.0.0.3:5432", error: "refused" }),
  ];
  return { body: { instance: "aa", snapshot: 1, clusters: [{ cluster, scope: "demo", leader: "pg1", nodes }] } };
}

const kinds: readonly (readonly [kind: string, member: string, args: readonly string[]])[] = [
  ["haproxy", "server pg3 10.0.0.3:5432", ["--edge", "10.0.0.11:8008"]],
  ["envoy", "address: 10.0.0.3", ["--edge", "10.0.0.11:8008"]],
  ["prometheus", "node: pg3", ["--node-metrics", "nodes"]],
  ["patroni", "# cluster demo, node pg3:", ["--hint-to", "https://10.0.0.11:9109"]],
];

for (const [kind, member, args] of kinds) {
  test(`render ${kind}: a dead member that no node lists any more comes from the running rolecall`, async (context) => {
    const config = await configOf(context, { listed: ["pg1", "pg2"], status: statusOf("demo") });
    const { code, out, err } = await runText(["render", kind, "--config", config, ...args]);
    assert.equal(code, 0, err);
    assert.ok(out.includes(member), out);
    const [summary, source] = [
      /demo: 3 members; 3 do not answer now: pg1 \([a-z ]+\), pg2 \([a-z ]+\), pg3 \(refused\)\./,
      /The members are those that the running rolecall knows\./,
    ];
    assert.match(err, new RegExp(`^warning RC122  ${summary.source} ${source.source}$`, "m"));
    assert.match(out, new RegExp(`^ ?# ${summary.source}\n ?# ${source.source}$`, "m"));
    if (kind === "haproxy") assertValidHaproxy(out, temporaryFolder("valid"));
  });

  test(`render ${kind}: without a running rolecall it says that a dead member would be missing`, async (context) => {
    const config = await configOf(context, { listed: ["pg1", "pg2"], status: null });
    const { code, out, err } = await runText(["render", kind, "--config", config, ...args]);
    assert.equal(code, 0, err);
    assert.ok(!out.includes(member), out);
    for (const text of [out, err])
      assert.match(
        text,
        /The members are those of one probe \(no rolecall of this configuration runs here\): one that no/,
      );
    assert.match(err, /^warning RC122  demo: 2 members; 2 do not answer now: pg1/m);
  });
}

const others: readonly (readonly [title: string, status: CannedAnswer, problem: RegExp | null])[] = [
  ["refuses the request", { status: 401, body: { message: "a password is needed" } }, /a password is needed/],
  ["serves another cluster", statusOf("shop"), null],
  ["serves a cluster of the same name with other nodes", statusOf("demo", "10.9.9.9"), null],
];

for (const [title, status, problem] of others)
  test(`render: members do not come from a rolecall that ${title}`, async (context) => {
    const config = await configOf(context, { listed: ["pg1", "pg2"], status });
    const { code, out, err } = await runText(["render", "haproxy", "--config", config, "--edge", "10.0.0.11:8008"]);
    assert.equal(code, 0, err);
    assert.ok(!out.includes("10.0.0.3:5432"), out);
    if (problem !== null) assert.match(err, problem);
  });

test("render: with all nodes gone the running rolecall alone knows the members", async (context) => {
  const config = await configOf(context, { listed: [], status: statusOf("demo"), isSeedKnown: true });
  const { code, out, err } = await runText(["render", "haproxy", "--config", config, "--edge", "10.0.0.11:8008"]);
  assert.equal(code, 0, err);
  for (const name of ["pg1", "pg2", "pg3"]) assert.ok(out.includes(`server ${name} 10.0.0.`), out);
});

test("render: a rolecall with a cluster of the same name and no address in common is not asked", async (context) => {
  const config = await configOf(context, { listed: [], status: statusOf("demo") });
  const { code, err } = await runText(["render", "haproxy", "--config", config, "--edge", "10.0.0.11:8008"]);
  assert.equal(code, 2);
  assert.match(err, /RC112 {2}Cannot render: no member is known of demo/);
});
