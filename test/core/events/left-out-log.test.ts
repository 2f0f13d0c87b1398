/** The warnings of members that are left out: each once, until that ends. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { App } from "../../../src/app/app.ts";
import { LeftOutLog } from "../../../src/core/events/left-out-log.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";
import { clusterOf, configOf } from "../../fake/config.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { seedUrl } from "../../fake/member-lists.ts";
import { until } from "../../fake/until.ts";

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly cluster?: string;
  readonly member?: string;
  readonly cause?: string;
  readonly omitted?: number;
}

/** Applies one list of a seed after the other. @returns what was logged for each */
function logOf(lists: readonly (readonly string[])[]): readonly (readonly Line[])[] {
  const lines: Line[] = [];
  const log = new LeftOutLog(
    pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) }),
  );
  const watched = new ClusterFixture({ nodes: [], cluster: { discover: [seedUrl] } });
  return lists.map((without, at) => {
    const before = watched.cluster;
    const rows = ["pg1", ...without].map((name) => ({ name, api_url: name === "pg1" ? "http://pg1:8008" : null }));
    watched.document("cluster", { of: seedUrl, value: { scope: "demo", members: rows } }, at * 1_000);
    log.record(before, watched.cluster, watched.policy);
    return lines.splice(0);
  });
}

test("warns of a member when it is left out, and not with every list", () => {
  const [first, same, more, less, again] = logOf([["pg2"], ["pg2"], ["pg2", "pg3"], ["pg2"], ["pg2", "pg3"]]);
  const warning = (member: string): Line => ({
    level: 40,
    cluster: "demo",
    member,
    cause: "no_address",
    msg: `member left out of demo: member ${member} is listed without a usable api_url`,
  });
  assert.deepEqual([first, same, more, less, again], [[warning("pg2")], [], [warning("pg3")], [], [warning("pg3")]]);
});

test("writes a bounded number of lines, whatever a list has", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const many = (from: number): readonly string[] => Array.from({ length: 200 }, (_, at) => `x${from + at}`);
  const written = logOf(Array.from({ length: 50 }, (_, at) => many(at * 200)));
  assert.equal(written.flat().length, 20);
});

test("a running rolecall warns once of a member without an address, however often its list is read", async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  for (const node of nodes) {
    node.fields = { patroni: { version: "4.1.4", scope: "demo", name: node.name } };
    node.members = new Map([...node.members, ["pg3", "http://:8008/patroni"]]);
  }
  const lines: Line[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  const config = configOf({ clusters: [clusterOf({ discover: nodes.map(({ api }) => api) })] });
  const app = new App({ ...config, probe: { ...config.probe, intervalMs: 20, clusterIntervalMs: 20 } }, log);
  context.after(() => app.stop({ drains: false }));
  await app.start();
  await until("lists of both nodes, again and again", () =>
    nodes.every(({ requests }) => requests.filter((target) => target === "/cluster").length > 5),
  );
  const warnings = lines.filter(({ msg }) => msg.startsWith("member left out"));
  assert.deepEqual(
    warnings.map(({ cluster, member, cause }) => ({ cluster, member, cause })),
    [{ cluster: "demo", member: "pg3", cause: "no_address" }],
  );
});
