import type { Node } from "../../cluster/node.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { ProbeConfig } from "../../config/model/config.ts";

/** One kind of probe of one node: what an exporter calls a collector (design.md, "The exporter dialect"). */
export interface Collector {
  /** `demo.pg1.leader`. */
  readonly name: string;
  readonly cluster: string;
  readonly node: string;
  /** What is asked, as askings are counted by. */
  readonly endpoint: string;
  /** Whom: an exporter calls this the connection's database. */
  readonly source: "api" | "exporter";
  readonly description: string;
  readonly ttlMs: number;
  readonly timeoutMs: number;
  readonly priority: number;
  /** Whether there is no yes without it. */
  readonly isFatal: boolean;
}

interface Kind {
  readonly endpoint: string;
  readonly source: "api" | "exporter";
  readonly description: string;
  readonly priority: number;
  readonly ttlMs: (asks: CollectorSchedule) => number;
  readonly isFatal: (node: Node) => boolean;
}

/** The cluster's documents are asked of one node in turn, whichever can be a witness. */
const documents: readonly [string, "clusterIntervalMs" | "configIntervalMs"][] = [
  ["cluster", "clusterIntervalMs"],
  ["config", "configIntervalMs"],
  ["history", "configIntervalMs"],
  ["failsafe", "configIntervalMs"],
];

/** How nodes are asked. */
export interface CollectorSchedule {
  readonly probe: ProbeConfig;
  /** The heartbeat loop is asked after at this multiple of the interval. */
  readonly livenessEvery: number;
}

/** Every collector of one cluster's nodes, in the order of their priority; `node` narrows them to one node. */
export function collectorsOf(
  cluster: ClusterState,
  node: string | null,
  asks: CollectorSchedule,
): readonly Collector[] {
  return cluster.nodes
    .filter((observation) => node === null || observation.node.name === node)
    .flatMap((observation) => collectorsOfNode(cluster.name, observation.node, asks))
    .toSorted((one, other) => one.priority - other.priority);
}

/** The collectors of one node: those of its API and of its exporter, where it has them. */
export function collectorsOfNode(cluster: string, node: Node, asks: CollectorSchedule): readonly Collector[] {
  const collectors: Collector[] = [];
  for (const { ttlMs, isFatal, ...kind } of kinds) {
    if (node[kind.source] === null) continue;
    const name = `${cluster}.${node.name}.${kind.endpoint}`;
    const { timeoutMs } = asks.probe;
    collectors.push({ ...kind, name, cluster, node: node.name, ttlMs: ttlMs(asks), timeoutMs, isFatal: isFatal(node) });
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
    ttlMs: ({ probe, livenessEvery }) => livenessEvery * probe.intervalMs,
    isFatal: () => false,
  },
  ...documents.map(([endpoint, interval], at) => ({
    endpoint,
    source: "api" as const,
    description: `The cluster's document /${endpoint}, asked of one node at a time`,
    priority: 140 + 10 * at,
    ttlMs: ({ probe }: CollectorSchedule) => probe[interval],
    isFatal: () => false,
  })),
];
