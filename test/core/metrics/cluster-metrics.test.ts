import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { readSources } from "../../fake/source-files.ts";
import { describe, test } from "node:test";
import { askedChecks } from "../../../src/core/health/rules/asked-checks.ts";
import { clusterMetrics, type ClusterSources } from "../../../src/core/metrics/nodes/cluster-metrics.ts";
import { nodeMetrics } from "../../../src/core/metrics/nodes/node-metrics.ts";
import { nodeSeries } from "../../../src/core/metrics/nodes/node-series.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

const asked = askedChecks([
  {
    route: "replica",
    lag_bytes: 1_024,
    lag_ms: null,
    keep: 0,
    fallback_primary: false,
    source: "defaults",
    of: "127.0.0.1:8008",
    requested_ms_ago: null,
    requested_for_ms: null,
  },
]);

function sourcesOf(watched: ClusterFixture, nowMs: number): ClusterSources {
  return {
    snapshot: () => ({ instance: "run", sequence: 7, clusters: [watched.cluster], index: new Map() }),
    policy: (cluster) => (cluster === "demo" ? watched.policy : undefined),
    now: () => nowMs,
    wall: () => nowMs,
    asked: () => asked,
    found: () => [],
  };
}

/** Metrics with labels that others have not: they have tests of their own. */
const worded = ["rolecall_pool_members", "rolecall_situation_info"];

function linesAt(
  watched: ClusterFixture,
  nowMs: number,
  isWanted: (name: string) => boolean,
): readonly { readonly name: string; readonly samples: readonly string[] }[] {
  return clusterMetrics(sourcesOf(watched, nowMs))
    .filter(({ name }) => isWanted(name))
    .map(({ name, samples }) => ({ name, samples: [...samples()] }));
}

/** The values of a cluster by the end of the metric's name. */
function valuesAt(watched: ClusterFixture, nowMs: number): Record<string, number> {
  return Object.fromEntries(
    linesAt(watched, nowMs, (name) => !worded.includes(name)).flatMap(({ name, samples }) =>
      samples.map((line) => {
        assert.match(line, new RegExp(`^${name}\\{cluster="demo"(,system="7000000000000000001"|,node="pg1")?\\} `));
        return [name.replace(/^rolecall_(cluster_)?/, ""), Number(line.split(" ").at(-1))];
      }),
    ),
  );
}

describe("metrics of clusters", () => {
  test("show the primary, the timeline, the claims, drains and blindness", () => {
    const watched = new ClusterFixture();
    assert.deepEqual(valuesAt(watched, 0), { has_primary: 0, blind: 1, claims: 0, drains: 0 });
    watched.lead("pg1", 0, { timeline: 3 });
    watched.follow("pg2", 0);
    const primary = { primary: 1, primary_info: 1, primary_wedged: 0, writes_wait: 0 };
    const others = { blind: 0, timeline: 3, drains: 0 };
    const healthy = { ...primary, ...others, has_primary: 1, claims: 1, paused_seconds: 0 };
    const leaderless = { ...others, has_primary: 0, claims: 0 };
    assert.deepEqual(valuesAt(watched, 0), healthy);
    watched.lead("pg2", 1_000, { timeline: 3 });
    assert.deepEqual(valuesAt(watched, 1_000), { ...healthy, claims: 2 });
    watched.follow("pg2", 2_000);
    watched.follow("pg1", 2_000);
    assert.deepEqual(valuesAt(watched, 2_000), { ...leaderless, paused_seconds: 0 });
    watched.lead("pg1", 3_000, { timeline: 3 });
    assert.deepEqual(valuesAt(watched, 60_000), { ...leaderless, blind: 1 });
  });

  test("a cluster of which no node is known is blind, until a member list names its nodes", () => {
    const watched = new ClusterFixture({ nodes: [], cluster: { discover: ["http://seed:8008"] } });
    assert.deepEqual(valuesAt(watched, 0), { has_primary: 0, blind: 1, claims: 0, drains: 0 });
    watched.cluster = { ...watched.cluster, isMembershipKnown: true };
    assert.equal(valuesAt(watched, 0)["blind"], 0);
  });

  test("count the members of a pool as its balancers ask, and say in words what is wrong only while clients are refused", () => {
    const watched = new ClusterFixture({ nodes: ["pg1", "pg2"] });
    const position = 1_000_000;
    watched.lead("pg1", 0, { xlog: { location: position } });
    watched.follow("pg2", 0, { xlog: { received_location: position, replayed_location: position - 4_096 } });
    const lines = (nowMs: number): readonly string[] =>
      linesAt(watched, nowMs, (name) => worded.includes(name)).flatMap(({ samples }) => samples);
    assert.deepEqual(lines(0), ['rolecall_pool_members{cluster="demo",check="/replica?lag=1kB"} 0\n']);
    for (const at of [1_000, 2_000, 3_000]) watched.fail("pg1", "refused", at);
    watched.follow("pg2", 3_000, { xlog: { received_location: position, replayed_location: position } });
    const [members, situation = ""] = lines(3_000);
    assert.equal(members, 'rolecall_pool_members{cluster="demo",check="/replica?lag=1kB"} 1\n');
    assert.match(
      situation,
      /condition="without a primary",wrong="no primary",cause="pg1 is down \(connection refused\)"/,
    );
  });

  test("no node reaches the DCS: 1, unless something keeps the primary; nothing while that is not known", () => {
    for (const [fields, silent] of [
      [{}, 1],
      [{ pause: true }, 0],
      [{ failsafe_mode_is_active: true }, 0],
    ] as const) {
      const watched = new ClusterFixture({ nodes: ["pg1", "pg2"] });
      const values: (number | undefined)[] = [];
      for (let at = 0; at <= 30_000; at += 1_000) {
        const contact = { ...fields, dcs_last_seen: 1_000 + Math.min(1, Math.floor(at / 10_000)) };
        watched.lead("pg1", at, contact);
        watched.follow("pg2", at, contact);
        values.push(valuesAt(watched, at)["dcs_unreachable"]);
      }
      assert.deepEqual([values[9], values[10], values[22], values[23]], [undefined, 0, 0, silent]);
    }
  });

  test("a primary that only looks alive: 1, until it works again; nothing without a primary", () => {
    const watched = new ClusterFixture({ nodes: ["pg1"] });
    watched.lead("pg1", 0);
    const values = [valuesAt(watched, 100)["primary_wedged"]];
    for (const at of [150, 200]) watched.recordLiveness("pg1", false, at);
    values.push(valuesAt(watched, 300)["primary_wedged"]);
    watched.recordLiveness("pg1", true, 400);
    values.push(valuesAt(watched, 500)["primary_wedged"]);
    watched.follow("pg1", 600);
    assert.deepEqual([...values, valuesAt(watched, 700)["primary_wedged"]], [0, 1, 0, undefined]);
  });

  test("a drained primary is still a primary, and an expired drain does not count", () => {
    const watched = new ClusterFixture();
    watched.lead("pg1", 0);
    const drain = { reason: "test", by: null, extent: "all" as const, untilMs: 2_000, since: "", until: "" };
    watched.record({ kind: "drain", cluster: "demo", node: "pg1", drain }, 0);
    const { has_primary: hasPrimary, drains } = valuesAt(watched, 1_000);
    assert.deepEqual([hasPrimary, drains], [1, 1]);
    assert.equal(valuesAt(watched, 2_000)["drains"], 0);
  });

  test("the leader of a standby cluster counts as its primary", () => {
    const watched = new ClusterFixture();
    watched.lead("pg1", 0, { role: "standby_leader" });
    const { has_primary: hasPrimary, primary } = valuesAt(watched, 0);
    assert.deepEqual([hasPrimary, primary], [1, undefined]);
  });
});

test("the reason why a node is not fit is a series of its own, which goes with the reason", () => {
  const watched = new ClusterFixture();
  const lines = (nowMs: number, name: string): readonly string[] =>
    nodeMetrics([...nodeSeries(sourcesOf(watched, nowMs))])
      .filter((family) => family.name === name)
      .flatMap(({ samples }) => [...samples()].flatMap((text) => text.split("\n")))
      .filter((line) => line.includes('node="pg2",check="replica"'));
  watched.lead("pg1", 0);
  watched.follow("pg2", 0);
  assert.deepEqual(lines(0, "rolecall_node_fit"), ['rolecall_node_fit{cluster="demo",node="pg2",check="replica"} 1']);
  assert.deepEqual(lines(0, "rolecall_node_unfit_reason"), []);
  for (let at = 1; at <= 3; at += 1) {
    watched.lead("pg1", at * 1_000);
    watched.fail("pg2", "timeout", at * 1_000);
  }
  assert.deepEqual(lines(3_000, "rolecall_node_fit"), [
    'rolecall_node_fit{cluster="demo",node="pg2",check="replica"} 0',
  ]);
  assert.deepEqual(lines(3_000, "rolecall_node_unfit_reason"), [
    'rolecall_node_unfit_reason{cluster="demo",node="pg2",check="replica",reason="down"} 1',
  ]);
});

test("docs/metrics.md lists every metric of rolecall and no other", () => {
  const documented = [...readFileSync("docs/metrics.md", "utf8").matchAll(/^\| `((?:rolecall|process)_\w+)[{`]/gm)].map(
    ([, name = ""]) => name,
  );
  const files = readSources("src").filter(
    ({ file }) =>
      /^(core\/metrics|features)\/|^app\/host\//.test(file) &&
      // What is rendered for other programs has names of their sections.
      !/^core\/metrics\/collectors\/|^features\/\w+\/render\//.test(file),
  );
  const names = files.flatMap(({ text }) =>
    [...text.matchAll(/"((?:rolecall|process)_\w+)"/g)].map(([, name = ""]) => name),
  );
  assert.deepEqual([...new Set(documented)].sort(), [...new Set(names)].sort());
});
