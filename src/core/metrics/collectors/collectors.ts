import type { Node } from "../../cluster/node.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { ProbeConfig } from "../../config/model/config.ts";

/** One kind of probe of one node: what an exporter calls a collector (docs/exporters.md, "As an API"). */
export interface Collector {
  /** `demo.pg1.leader`. */
  readonly name: string;
  readonly cluster: string;
  readonly node: string;
  /** The endpoint that is probed; probes are counted by it. */
  readonly endpoint: string;
  /** What is probed: the node's API or its exporter. An exporter calls this the database of its connection. */
  readonly source: "api" | "exporter";
  readonly description: string;
  readonly ttlMs: number;
  readonly timeoutMs: number;
  readonly priority: number;
  /** Whether no check is a yes without it. */
  readonly isFatal: boolean;
}

interface Kind {
  readonly endpoint: string;
  readonly source: "api" | "exporter";
  readonly description: string;
  readonly priority: number;
  readonly ttlMs: (schedule: CollectorSchedule) => number;
  readonly isFatal: (node: Node) => boolean;
}

/** The cluster's documents and their intervals. Each is requested from one suitable node at a time. */
const documents: readonly [string, "clusterIntervalMs" | "configIntervalMs"][] = [
  ["cluster", "clusterIntervalMs"],
  ["config", "configIntervalMs"],
  ["history", "configIntervalMs"],
  ["failsafe", "configIntervalMs"],
];

/** How often nodes are probed. */
export interface CollectorSchedule {
  readonly probe: ProbeConfig;
  /** Liveness is probed once in so many probe intervals. */
  readonly livenessIntervalFactor: number;
}

/** Every collector of one cluster's nodes, in the order of their priority; `node` narrows them to one node. */
export function collectorsOf(
  cluster: ClusterState,
  node: string | null,
  schedule: CollectorSchedule,
): readonly Collector[] {
  return cluster.nodes
    .filter((observation) => node === null || observation.node.name === node)
    .flatMap((observation) => collectorsOfNode(cluster.name, observation.node, schedule))
    .toSorted((one, other) => one.priority - other.priority);
}

/** The collectors of one node: those of its API and of its exporter, where it has them. */
export function collectorsOfNode(cluster: string, node: Node, schedule: CollectorSchedule): readonly Collector[] {
  const collectors: Collector[] = [];
  for (const { ttlMs, isFatal, ...kind } of kinds) {
    if (node[kind.source] === null) continue;
    const name = `${cluster}.${node.name}.${kind.endpoint}`;
    const { timeoutMs } = schedule.probe;
    collectors.push({
      ...kind,
      name,
      cluster,
      node: node.name,
      ttlMs: ttlMs(schedule),
      timeoutMs,
      isFatal: isFatal(node),
    });
  }
  return collectors;
}

const kinds: readonly Kind[] = [
  {
    endpoint: "leader",
    source: "api",
    description: "The node's status document and whether it holds the lock, GET /leader of its API",
    priority: 100,
    ttlMs: ({ probe }) => probe.intervalMs,
    isFatal: () => true,
  },
  {
    endpoint: "up",
    source: "exporter",
    description: "The database's role as its exporter has it, GET /up",
    priority: 110,
    ttlMs: ({ probe }) => probe.intervalMs,
    isFatal: ({ api }) => api === null,
  },
  {
    endpoint: "metrics",
    source: "exporter",
    description: "Positions, senders and the database's own time, GET /metrics of its exporter",
    priority: 120,
    ttlMs: ({ probe }) => probe.metricsIntervalMs,
    isFatal: ({ api }) => api === null,
  },
  {
    endpoint: "liveness",
    source: "api",
    description: "The heartbeat loop of the cluster manager, GET /liveness of its API",
    priority: 130,
    ttlMs: ({ probe, livenessIntervalFactor }) => livenessIntervalFactor * probe.intervalMs,
    isFatal: () => false,
  },
  ...documents.map(([endpoint, interval], at) => ({
    endpoint,
    source: "api" as const,
    description: `The cluster's document /${endpoint}, requested from one node at a time`,
    priority: 140 + 10 * at,
    ttlMs: ({ probe }: CollectorSchedule) => probe[interval],
    isFatal: () => false,
  })),
];
