/** The cost of a verdict: finding the cluster and the node, and judging the check. No request is parsed or answered. */
import { impliedReport } from "../../src/core/cluster/incident/incident.ts";
import type { Node } from "../../src/core/cluster/node.ts";
import { neverProbed } from "../../src/core/cluster/observation.ts";
import type { ProbeOutcome } from "../../src/core/cluster/outcome.ts";
import type { ClusterState } from "../../src/core/cluster/snapshot.ts";
import { plainCheck, type Check } from "../../src/core/health/check.ts";
import { defaultGuards } from "../../src/core/health/guards.ts";
import { withNodes } from "../../src/core/health/observe/membership.ts";
import { observe } from "../../src/core/health/observe/observe.ts";
import { judgeMember } from "../../src/core/health/rules/pool.ts";
import type { HealthPolicy } from "../../src/core/health/health-policy.ts";
import { viewAt } from "../../src/core/health/evidence/leadership/cluster-view.ts";
import { emptyCluster } from "../../src/core/cluster/empty-cluster.ts";
import type { Row, RowMaker } from "../row.ts";

const rounds = 20;
const verdictsPerRound = 100_000;

const policy: HealthPolicy = {
  guards: defaultGuards,
  maxAgeMs: 5_500,
  livenessMaxAgeMs: 32_500,
  intervalMs: 1_000,
  viewMaxAgeMs: 11_500,
  timeoutMs: 2_500,
  pageMaxAgeMs: 17_500,
  fall: 3,
  rise: 1,
  discovers: false,
  configured: [],
};

const checks: readonly (readonly [string, Check])[] = [
  ["/primary", plainCheck("primary")],
  ["/replica", plainCheck("replica")],
  ["/replica?lag=1MB&lag_time=5s", { ...plainCheck("replica"), lagBytesMax: 2 ** 20, lagTimeMsMax: 5_000 }],
  [
    "/replica?lag=1MB&keep=1&fallback=primary",
    { ...plainCheck("replica"), lagBytesMax: 2 ** 20, keep: 1, fallbackPrimary: true },
  ],
];

const names = ["pg1", "pg2", "pg3"] as const;
const lastMs = 300_000;

/** Nanoseconds of the most expensive of some checks, with 1, 100 and 1,000 clusters in memory. */
export const costOfVerdicts: RowMaker = {
  name: "judge",
  run: () => Promise.resolve([1, 100, 1_000].map(rowWith)),
};

function rowWith(count: number): Row {
  const clusters = new Map(
    Array.from({ length: count }, (_, at): [string, ClusterState] => [`c${at}`, observedCluster(`c${at}`)]),
  );
  const keys = [...clusters.keys()];
  const costs = checks.map(([name, check]) => {
    // The best round: other work on the machine is not part of the cost.
    return { name, ns: Math.min(...Array.from({ length: rounds }, () => cost(clusters, keys, check))) };
  });
  return {
    name: `nanoseconds of a verdict, the most expensive of ${checks.length} checks: ${count} ${count === 1 ? "cluster" : "clusters"} in memory`,
    figure: Math.max(...costs.map(({ ns }) => ns)),
    bound: { atMost: 2_000 },
    detail: costs.map(({ name, ns }) => `${name} ${Math.round(ns)}`).join(", "),
  };
}

/** @returns nanoseconds per verdict, over one round through all clusters and nodes in turn */
function cost(clusters: ReadonlyMap<string, ClusterState>, keys: readonly string[], check: Check): number {
  let fits = 0;
  const began = performance.now();
  for (let turn = 0; turn < verdictsPerRound; turn += 1) {
    const cluster = clusters.get(keys[turn % keys.length] ?? "");
    const observation = cluster?.nodes[cluster.index.get(names[turn % names.length] ?? "") ?? -1];
    if (cluster === undefined || observation === undefined) throw new Error("Cannot judge: a cluster is missing");
    if (judgeMember(viewAt(cluster, policy, lastMs + 100), observation, check).fit) fits += 1;
  }
  const tookMs = performance.now() - began;
  if (fits === 0) throw new Error("Cannot measure: no verdict was a yes");
  return (tookMs * 1e6) / verdictsPerRound;
}

/** A cluster of three that has been watched for five minutes, its leader writing, its ring of positions full. */
function observedCluster(cluster: string): ClusterState {
  let state = withNodes(
    emptyCluster({ name: cluster, scope: cluster, discover: [] }),
    names.map(nodeOf).map(neverProbed),
  );
  const document = {
    scope: cluster,
    system: "7300000000000000001",
    version: "4.1.4",
    members: new Map<string, string>(),
  };
  for (let sentAtMs = 0; sentAtMs <= lastMs; sentAtMs += 1_000) {
    for (const node of names) {
      const hasLock = node === "pg1";
      const at = 0x5000000 + sentAtMs * 100;
      const positions = hasLock ? { location: at } : { received: at, replayed: at - 1_000 };
      const senders = hasLock ? ["pg2", "pg3"].map((name) => ({ name, address: null, state: "streaming" })) : [];
      const report = { ...impliedReport(node, hasLock, document), ...positions, senders };
      const outcome: ProbeOutcome = {
        kind: "status",
        cluster,
        node,
        sentAtMs,
        sentAtWallMs: 0,
        result: { report, hasLock },
      };
      state = observe(state, outcome, { policy, nowMs: sentAtMs });
    }
  }
  return state;
}

function nodeOf(name: string): Node {
  const api = `http://${name}`;
  return {
    name,
    member: name,
    isMemberFixed: true,
    api,
    exporter: null,
    database: null,
    isArchiveFed: false,
    zone: null,
    isFixed: true,
  };
}
