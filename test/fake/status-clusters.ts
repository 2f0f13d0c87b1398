import type { StatusCluster, StatusNode } from "../../src/core/command/client/cluster-status.ts";

/** A node of a status: by default a healthy replica. */
export function statusNode(node: string, over: Partial<StatusNode> = {}): StatusNode {
  const isPrimary = over.role === "primary";
  return {
    node,
    role: "replica",
    state: "running",
    was: null,
    error: null,
    timeline: 3,
    lag_bytes: isPrimary ? 0 : 1_536,
    lag_ms: 0,
    age_ms: 420,
    version: "4.1.4",
    system: "7710",
    scope: "demo",
    api: "http://10.0.0.1:8008",
    exporter: null,
    database: "10.0.0.1:5432",
    zone: null,
    sync_role: null,
    tags: {},
    pending_restart: false,
    pending_restart_reason: [],
    watchdog_failed: false,
    scheduled_restart: null,
    verdicts: isPrimary
      ? { primary: "fit", replica: "wrong_role" }
      : { primary: "wrong_role", replica: "fit", async: "fit" },
    reason: null,
    detail: null,
    warning: null,
    drain: null,
    evidence: over.role === "unknown" ? "last known" : "fresh",
    asked: 0,
    refused: [],
    condition: conditionOf(over),
    ...over,
  };
}

/** As the server classifies a node. */
function conditionOf({ reason = null, warning = null, drain = null }: Partial<StatusNode>): string {
  if (reason === "drained" && drain !== null) return "drained";
  return reason !== null ? "unfit" : warning === null ? "ok" : "warning";
}

/** A node that is unfit for every route. */
export function unfitNode(node: string, reason: string, over: Partial<StatusNode> = {}): StatusNode {
  return statusNode(node, { reason, verdicts: { primary: reason, replica: reason }, ...over });
}

/** A cluster of a status: by default `pg1` leads `pg2`, and both are well. */
export function statusCluster(cluster: string, over: Partial<StatusCluster> = {}): StatusCluster {
  return {
    cluster,
    scope: cluster,
    leader: "pg1",
    timeline: 3,
    blind: false,
    paused: false,
    failsafe: false,
    scheduled_switchover: null,
    stated_lags: {},
    nodes: [statusNode("pg1", { role: "primary" }), statusNode("pg2")],
    situation: situationOf(over.nodes ?? []),
    ...over,
  };
}

function situationOf(nodes: readonly StatusNode[]): StatusCluster["situation"] {
  const unfit = nodes.find(({ condition }) => condition === "unfit");
  return unfit === undefined
    ? situationWith({})
    : situationWith({ condition: "degraded", wrong: "1 node out", cause: `${unfit.node} is ${unfit.reason}` });
}

/** A situation: by default nothing is wrong. */
export function situationWith(over: Partial<StatusCluster["situation"]>): StatusCluster["situation"] {
  const clients = "checks lead writes to pg1 (not tried); /replica: 1 of 1 node";
  return {
    condition: "ok",
    wrong: null,
    cause: null,
    since: null,
    for_ms: null,
    clients,
    next: null,
    action: null,
    ...over,
  };
}

export const plannedDrain = {
  reason: "kernel upgrade",
  by: "operator",
  distrust: false,
  all: false,
  since: "2026-01-31T12:00:00.000Z",
  until: "2026-01-31T12:30:00.000Z",
  remaining_ms: 1_200_000,
};

const primary = statusNode("pg1", { role: "primary" });

/** Clusters in every condition, in the order in which a server might list them. */
export const mixedClusters: readonly StatusCluster[] = [
  statusCluster("accounts"),
  statusCluster("billing", {
    situation: situationWith({
      condition: "warning",
      wrong: "1 node with a warning",
      cause: "pg2: listed by its sender, but has not advanced for 28 s",
    }),
    nodes: [primary, statusNode("pg2", { warning: "listed by its sender, but has not advanced for 28 s" })],
  }),
  statusCluster("catalog", {
    situation: situationWith({ condition: "degraded", wrong: "1 node out", cause: "pg3 is lagging (12MB)" }),
    scheduled_switchover: { at: "2026-01-31T23:00:00+00:00", from: "pg1", to: "pg2" },
    stated_lags: { pg2: { receive_lag: 0, replay_lag: 1_536 }, pg3: { receive_lag: 12_582_912, replay_lag: null } },
    nodes: [
      primary,
      statusNode("pg2", {
        zone: "a",
        sync_role: "sync",
        pending_restart: true,
        pending_restart_reason: ["max_connections: 50 -> 60"],
        watchdog_failed: true,
        tags: { zone: "a", clonefrom: "true" },
      }),
      unfitNode("pg3", "lagging", { detail: "12MB", lag_bytes: 12_582_912, tags: { nofailover: "true" } }),
    ],
  }),
  statusCluster("delivery", {
    situation: situationWith({
      condition: "without a primary",
      wrong: "no primary",
      cause: "pg1 is down (connection refused)",
      since: "2026-01-31T12:00:00.000Z",
      for_ms: 65_000,
      clients: "checks refuse writes (not tried); /replica: 1 of 2 nodes",
      next: "the lock expires at about 12:00:30 UTC (ttl 30 s); candidates: pg2 (1.5kB)",
      action: "Wait until 12:00:30 UTC",
    }),
    leader: null,
    paused: true,
    nodes: [
      unfitNode("pg1", "down", { role: "unknown", state: "unknown", was: "primary", error: "refused", age_ms: 65_000 }),
      statusNode("pg2"),
    ],
  }),
  statusCluster("events", {
    situation: situationWith({ condition: "drained", wrong: "1 node drained", cause: "pg2: kernel upgrade" }),
    nodes: [primary, unfitNode("pg2", "drained", { drain: plannedDrain }), statusNode("pg10"), statusNode("pg9")],
  }),
  statusCluster("forum", {
    situation: situationWith({
      condition: "blind",
      wrong: "blind",
      cause: "none of 3 nodes answers rolecall",
      for_ms: 9_000,
      next: "checks are answered 500 until a node answers",
      action: "Look at the network",
    }),
    blind: true,
    leader: null,
    nodes: [unfitNode("pg1", "blind", { age_ms: 9_000 })],
  }),
  statusCluster("guides", {
    situation: situationWith({ condition: "without nodes", wrong: "no node is known" }),
    leader: null,
    timeline: null,
    nodes: [],
  }),
];
