import { featureCounted } from "../../../src/app/registry/counted.ts";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AnswerCounter } from "../../../src/core/http/message/answer-counter.ts";
import { Metrics } from "../../../src/core/metrics/metrics.ts";
import { configOf } from "../../fake/config.ts";
import { ClusterFixture, steadyCluster } from "../../fake/cluster-fixture.ts";

const upstream = configOf({ clusters: [] }).exporter;

function metricsOf(
  watched: ClusterFixture,
  counter = new AnswerCounter(),
  exporter = upstream,
  nowMs = 2_000,
  fed: ReadonlySet<string> = new Set(),
): Metrics {
  return new Metrics({
    asked: () => [],
    eventKinds: { cluster: ["primary_lost", "blind"], process: [] },
    counted: featureCounted,
    configInForce: () => ({ loadedAtMs: 0, refused: null }),
    snapshot: () => ({ instance: "run", sequence: 7, clusters: [watched.cluster], index: new Map() }),
    policy: (cluster) => (cluster === "demo" ? watched.policy : undefined),
    now: () => nowMs,
    wall: () => 1_795_242_555_000,
    answers: () => counter.rows(),
    workers: () => null,
    fastPath: () => ({ requests: 5, fallbacks: { not_cached: 2, slow_reader: 0 }, trips: 1 }),
    found: () => [],
    ofFeatures: () => [],
    fed: () => fed,
    certificates: () => [],
    lostLogLines: () => 0,
    refresh: () => Promise.resolve(),
    exporter: () => exporter,
    schedule: () => ({ probe: configOf({ clusters: [] }).probe, livenessIntervalFactor: 10 }),
    version: "1.2.3",
  });
}

async function linesOf(metrics: Metrics, name: string): Promise<readonly string[]> {
  const { pieces } = await metrics.render();
  return Buffer.concat(pieces)
    .toString()
    .split("\n")
    .filter((line) => line.startsWith(name))
    .sort();
}

test("shows age, reachability, lag, role, and fitness with its reason for every node", async () => {
  const metrics = metricsOf(steadyCluster());
  const expected = [
    'rolecall_fast_path_fallbacks_total{reason="not_cached"} 2',
    'rolecall_fast_path_fallbacks_total{reason="slow_reader"} 0',
    "rolecall_fast_path_requests_total 5",
    "rolecall_fast_path_trips_total 1",
  ];
  assert.deepEqual(await linesOf(metrics, "rolecall_fast_path"), expected);
  assert.deepEqual(await linesOf(metrics, "rolecall_fast_path"), expected, "a second scrape adds nothing");
});

test("every node has its age, reachability, lag, role, and fitness with the reason", async () => {
  const metrics = metricsOf(steadyCluster());
  assert.deepEqual(await linesOf(metrics, "rolecall_node_age_seconds"), [
    'rolecall_node_age_seconds{cluster="demo",node="pg1"} 2',
    'rolecall_node_age_seconds{cluster="demo",node="pg2"} 2',
  ]);
  assert.deepEqual(await linesOf(metrics, "rolecall_node_up"), [
    'rolecall_node_up{cluster="demo",node="pg1"} 1',
    'rolecall_node_up{cluster="demo",node="pg2"} 1',
    'rolecall_node_up{cluster="demo",node="pg3"} 0',
  ]);
  assert.deepEqual(await linesOf(metrics, "rolecall_node_lag_bytes"), [
    'rolecall_node_lag_bytes{cluster="demo",node="pg1"} 0',
    'rolecall_node_lag_bytes{cluster="demo",node="pg2"} 12582912',
  ]);
  assert.ok(
    (await linesOf(metrics, "rolecall_node_role")).includes(
      'rolecall_node_role{cluster="demo",node="pg1",role="primary"} 1',
    ),
  );
  const fit = await linesOf(metrics, "rolecall_node_fit");
  assert.ok(fit.includes('rolecall_node_fit{cluster="demo",node="pg1",check="primary"} 1'));
  assert.ok(fit.includes('rolecall_node_fit{cluster="demo",node="pg3",check="replica"} 0'));
  assert.equal(fit.length, 6);
});

test("a running primary without the lock has a role of its own from its second report on", async () => {
  const watched = new ClusterFixture({ nodes: ["pg1", "pg2"] });
  for (const [atMs, roles] of [
    [1_000, ["pg1 primary"]],
    [2_000, ["pg1 primary", "pg2 stray_primary"]],
  ] as const) {
    watched.lead("pg1", atMs - 500);
    watched.answer("pg2", { fields: { role: "primary", timeline: 2 } }, atMs);
    assert.deepEqual(await atInstant(watched, atMs, "rolecall_node_role"), roles);
  }
});

/** The lines of a family a moment later, by node: `pg1 primary` for a role, `pg1 0` for a figure. */
async function atInstant(watched: ClusterFixture, nowMs: number, name: string): Promise<readonly string[]> {
  const lines = await linesOf(metricsOf(watched, new AnswerCounter(), upstream, nowMs), name);
  return lines.map((line) => {
    const [, node, role, value] = /node="(\w+)"(?:,role="(\w+)")?\} (.*)$/.exec(line) ?? [];
    return `${node} ${role ?? value}`;
  });
}

describe("what is only known of the past has no sample", () => {
  const states: readonly [string, (watched: ClusterFixture) => void, readonly string[], readonly string[]][] = [
    ["all answer", () => {}, ["pg1 primary", "pg2 replica", "pg3 replica"], ["pg1 0", "pg2 0", "pg3 0"]],
    [
      "a primary that was killed",
      (watched) => {
        for (let at = 61_000; at <= 63_000; at += 1_000) watched.fail("pg1", "refused", at);
      },
      ["pg2 replica", "pg3 replica"],
      ["pg2 0", "pg3 0"],
    ],
    [
      "a replica that hangs, until it is down",
      (watched) => {
        for (let at = 61_000; at <= 63_000; at += 1_000) watched.fail("pg3", "timeout", at);
      },
      ["pg1 primary", "pg2 replica"],
      ["pg1 0", "pg2 0"],
    ],
    [
      "a primary that gave up its role, and a new one",
      (watched) => {
        watched.follow("pg1", 61_000);
        watched.lead("pg2", 61_000, { timeline: 2 });
      },
      ["pg1 replica", "pg2 primary", "pg3 replica"],
      ["pg1 0", "pg2 0", "pg3 0"],
    ],
    [
      "two nodes that say that they are the primary",
      (watched) => {
        watched.answer("pg2", { hasLock: false, fields: { role: "primary" } }, 61_000);
      },
      ["pg1 primary", "pg3 replica"],
      ["pg1 0", "pg3 0"],
    ],
    [
      "a primary that stops",
      (watched) => watched.lead("pg1", 61_000, { state: "stopping" }),
      ["pg2 replica", "pg3 replica"],
      ["pg1 0", "pg2 0", "pg3 0"],
    ],
  ];
  for (const [title, change, roles, lags] of states)
    test(title, async () => {
      const watched = new ClusterFixture();
      watched.lead("pg1", 60_000);
      watched.follow("pg2", 60_000);
      watched.follow("pg3", 60_000);
      change(watched);
      assert.deepEqual(await atInstant(watched, 63_500, "rolecall_node_role"), roles);
      assert.deepEqual(await atInstant(watched, 63_500, "rolecall_node_lag_bytes"), lags);
    });

  test("evidence that is too old", async () => {
    const watched = steadyCluster();
    for (const name of ["rolecall_node_role", "rolecall_node_lag"])
      assert.deepEqual(await atInstant(watched, 90_000, name), [], name);
    assert.deepEqual(await atInstant(watched, 90_000, "rolecall_node_age_seconds"), ["pg1 90", "pg2 90"]);
  });
});

test("omits removed nodes and nodes of removed clusters from the next scrape", async () => {
  const watched = steadyCluster();
  const metrics = metricsOf(watched);
  await metrics.render();
  watched.cluster = { ...watched.cluster, nodes: watched.cluster.nodes.slice(0, 1) };
  assert.equal((await linesOf(metrics, "rolecall_node_up")).length, 1);
  watched.cluster = { ...watched.cluster, name: "other" };
  assert.equal((await linesOf(metrics, "rolecall_node_up")).length, 0);
});

test("counts probes, answers, snapshots and reloads", async () => {
  const answers = new AnswerCounter();
  const metrics = metricsOf(steadyCluster(), answers);
  for (let time = 0; time < 3; time += 1) answers.count("primary", 200);
  answers.count("primary", 503);
  answers.count("replica", 200);
  metrics.probed({ cluster: "demo", node: "pg1", endpoint: "leader", outcome: "answered", durationMs: 30 });
  metrics.own.count("reloads", { outcome: "applied" });
  await metrics.render();
  assert.deepEqual(await linesOf(metrics, "rolecall_answers_total"), [
    'rolecall_answers_total{route="primary",status="200"} 3',
    'rolecall_answers_total{route="primary",status="503"} 1',
    'rolecall_answers_total{route="replica",status="200"} 1',
  ]);
  assert.deepEqual(await linesOf(metrics, "rolecall_snapshots_total"), ["rolecall_snapshots_total 7"]);
  assert.deepEqual(await linesOf(metrics, "rolecall_reloads_total"), [
    'rolecall_reloads_total{outcome="applied"} 1',
    'rolecall_reloads_total{outcome="refused"} 0',
  ]);
  const buckets = await linesOf(metrics, "rolecall_probe_duration_seconds_bucket");
  assert.ok(buckets.includes('rolecall_probe_duration_seconds_bucket{le="0.025",cluster="demo",question="leader"} 0'));
  assert.ok(buckets.includes('rolecall_probe_duration_seconds_bucket{le="0.05",cluster="demo",question="leader"} 1'));
  assert.equal((await linesOf(metrics, "rolecall_probes_total")).length, 1);
  metrics.forgetNodes();
  assert.equal((await linesOf(metrics, "rolecall_probes_total")).length, 0);
});

test("no series of a cluster stays after a reload has removed it", async () => {
  const watched = steadyCluster();
  const metrics = metricsOf(watched);
  metrics.probed({ cluster: "demo", node: "pg1", endpoint: "leader", outcome: "answered", durationMs: 3 });
  metrics.disputed("demo");
  metrics.happened({ cluster: "demo", kind: "blind" });
  metrics.own.count("bursts", { cluster: "demo", cause: "no_holder" });
  metrics.own.count("burstProbes", { cluster: "demo" }, 2);
  metrics.own.count("hints", { cluster: "demo", effect: "begun" });
  metrics.own.count("hints", { cluster: "", effect: "forbidden" });
  metrics.own.count("dcsReads", { cluster: "demo", outcome: "answered" });
  metrics.own.count("dcsWatchEnds", { cluster: "demo", cause: "closed" });
  metrics.own.count("dcsWithdrawals", { cluster: "demo" });
  metrics.own.observe("managementCalls", { cluster: "demo", call: "switchover", method: "POST", status: "200" }, 5);
  const ofDemo = async () => (await linesOf(metrics, "rolecall_")).filter((line) => line.includes('cluster="demo"'));
  const before = await ofDemo();
  for (const name of [
    "probe_duration_seconds_sum",
    "disputes_total",
    "bursts_total",
    "burst_probes_total",
    "hints_total",
  ])
    assert.ok(
      before.some((line) => line.startsWith(`rolecall_${name}{`)),
      name,
    );
  metrics.forgetNodes();
  watched.cluster = { ...watched.cluster, name: "other" };
  // A probe that was in flight during the reload.
  metrics.probed({ cluster: "demo", node: "pg1", endpoint: "leader", outcome: "canceled", durationMs: 3 });
  assert.deepEqual(await ofDemo(), []);
  assert.deepEqual(await linesOf(metrics, "rolecall_hints_total"), [
    'rolecall_hints_total{cluster="",effect="forbidden"} 1',
  ]);
});

test("each kind of event of each cluster is 0 before its first event", async () => {
  const watched = steadyCluster();
  const metrics = metricsOf(watched);
  const events = () => linesOf(metrics, "rolecall_events_total");
  const none = [
    'rolecall_events_total{cluster="demo",kind="blind"} 0',
    'rolecall_events_total{cluster="demo",kind="primary_lost"} 0',
  ];
  assert.deepEqual(await events(), none);
  metrics.happened({ cluster: "demo", kind: "primary_lost" });
  assert.deepEqual(await events(), [none[0], 'rolecall_events_total{cluster="demo",kind="primary_lost"} 1']);
  watched.cluster = { ...watched.cluster, name: "other" };
  assert.equal((await events()).length, 2, "a removed cluster has none");
});

test("writes the exposition format, whatever names it contains", async () => {
  const watched = steadyCluster();
  const [first] = watched.cluster.nodes;
  assert.ok(first !== undefined);
  watched.cluster = { ...watched.cluster, nodes: [{ ...first, node: { ...first.node, name: 'a"b\\c' } }] };
  const { pieces, contentType } = await metricsOf(watched).render();
  const text = Buffer.concat(pieces).toString();
  assert.match(contentType, /^text\/plain/);
  assert.ok(text.includes('rolecall_node_up{cluster="demo",node="a\\"b\\\\c"} 1'));
  for (const line of text.split("\n")) assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{.*\})? [-+.\w]+|)$/);
});

describe("the nodes of a cluster whose evidence comes from another instance", () => {
  const pageOf = async (isFed: boolean): Promise<Metrics> => {
    const watched = steadyCluster();
    const metrics = metricsOf(watched, new AnswerCounter(), upstream, 2_000, new Set(isFed ? ["demo"] : []));
    metrics.probed({ cluster: "demo", node: "pg1", endpoint: "leader", outcome: "answered", durationMs: 3 });
    return metrics;
  };
  const namesOf = async (metrics: Metrics): Promise<ReadonlySet<string>> =>
    new Set(
      (await linesOf(metrics, "")).filter((line) => /[{,]node="pg/.test(line)).map((line) => line.split("{")[0] ?? ""),
    );

  test("have no series here, except what this instance has done itself and whom it has as the primary", async () => {
    assert.deepEqual([...(await namesOf(await pageOf(true)))].sort(), [
      "rolecall_cluster_primary",
      "rolecall_probes_total",
    ]);
  });

  test("have them while they are probed here", async () => {
    const [probed, unfollowed] = [await namesOf(await pageOf(false)), await namesOf(metricsOf(steadyCluster()))];
    for (const name of ["rolecall_node_fit", "rolecall_node_up", "patroni_primary", "pg_up"])
      assert.ok(probed.has(name), name);
    for (const name of unfollowed) assert.ok(probed.has(name), name);
  });

  test("and the cluster keeps its own", async () => {
    const lines = await linesOf(await pageOf(true), "rolecall_");
    for (const line of [
      'rolecall_cluster_has_primary{cluster="demo"} 1',
      'rolecall_cluster_blind{cluster="demo"} 0',
      'rolecall_cluster_primary{cluster="demo",node="pg1"} 1',
    ])
      assert.ok(lines.includes(line), line);
  });
});
