import { rejectingPassthrough } from "./node-api-listener.ts";
import { Store } from "../../src/core/state/store.ts";
import { buildClusters } from "../../src/core/state/clusters.ts";
import type { DatabaseAddress } from "../../src/core/cluster/node.ts";
import type { ClusterState } from "../../src/core/cluster/snapshot.ts";
import { parseReport } from "../../src/core/cluster/documents/report.ts";
import type { NodeApiContext } from "../../src/core/http/node-api/node-api.ts";
import type { RoutingContext } from "../../src/core/http/node-api/routing-context.ts";
import { defaultGuards, type Guards } from "../../src/core/health/guards.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "./config.ts";

/** A cluster of three nodes in memory: pg1 leads, pg2 (zone a) follows, pg3 (zone b) never answered. Only the test moves the clock. */
export interface StoreFixture {
  readonly store: Store;
  readonly routingContext: RoutingContext;
  nowMs: number;
  state(): ClusterState;
  /** Records a report of a node now; by default pg1 has the lock. */
  recordReport(node: string, position: number, hasLock?: boolean, overrides?: ReportOverrides): void;
  /** Records that a node did not answer in time now. */
  recordFailure(node: string): void;
  apiContext(onAnswer?: NodeApiContext["onAnswer"]): NodeApiContext;
}

/** Where a document differs from that of an ordinary node on timeline 1. */
export interface ReportOverrides {
  readonly timeline?: number;
  /** Whether the node's own query failed, so that it states no position. */
  readonly isMute?: boolean;
}

const zones = [null, "a", "b"];

/**
 * @param hasExporters whether each node has an exporter too, and a fourth node, ex1, has nothing else
 * @param databaseOf where the database of each of the three nodes is
 */
export function storeFixture(
  guards: Partial<Guards> = {},
  hasExporters = false,
  databaseOf: (name: string) => DatabaseAddress | null = () => null,
): StoreFixture {
  const exporterOf = (name: string): string | null => (hasExporters ? `http://${name}:9630` : null);
  const managed = ["pg1", "pg2", "pg3"].map((name, at) =>
    nodeOf({
      name,
      api: `http://127.0.0.1:${8008 + at}`,
      exporter: exporterOf(name),
      zone: zones[at] ?? null,
      database: databaseOf(name),
    }),
  );
  const nodes = hasExporters ? [...managed, nodeOf({ name: "ex1", api: null, exporter: exporterOf("ex1") })] : managed;
  const config = configOf({
    clusters: [clusterOf({ nodes, guards: { ...defaultGuards, demotedForMs: 2_000, ...guards } })],
  });
  const store = new Store("test", buildClusters(config, new Map()));
  const cluster: StoreFixture = {
    store,
    routingContext: {
      scope: { ...listenerOf({}), clusters: ["demo"], hostSuffixes: [".db.internal"] },
      rules: { ignoreParams: ["be"], ignoresUnknown: false, defaults: "", lagTimeMsMin: 0 },
      passes: false,
      operatorPages: false,
    },
    nowMs: 1_000,
    state: () => store.current.clusters[0] ?? missing(),
    recordReport(node, position, hasLock = node === "pg1", overrides = {}) {
      const report = parseReport(documentOf(hasLock || node === "pg1", position, overrides));
      if (report === undefined) throw new Error("the fake document cannot be parsed");
      const { nowMs } = cluster;
      store.record(
        { kind: "status", cluster: "demo", node, sentAtMs: nowMs, sentAtWallMs: nowMs, result: { report, hasLock } },
        nowMs,
      );
    },
    recordFailure(node) {
      const { nowMs } = cluster;
      const result = { failure: { kind: "timeout", detail: "timeout" } } as const;
      store.record({ kind: "status", cluster: "demo", node, sentAtMs: nowMs, sentAtWallMs: nowMs, result }, nowMs);
    },
    apiContext(onAnswer = () => {}) {
      const policy = (name: string): ReturnType<Store["policyOf"]> => store.policyOf(name);
      return {
        inputs: () => ({ snapshot: store.current, policy, nowMs: cluster.nowMs, unready: () => null }),
        snapshot: () => store.current,
        now: () => cluster.nowMs,
        diagnostics: () => Promise.reject(new Error("a diagnostics page that this listener does not serve")),
        passthrough: rejectingPassthrough,
        onAnswer,
      };
    },
  };
  cluster.recordReport("pg1", 1_000);
  cluster.recordReport("pg2", 1_000);
  return cluster;
}

function missing(): never {
  throw new Error("the store must hold one cluster");
}

function documentOf(isLeader: boolean, position: number, { timeline = 1, isMute = false }: ReportOverrides): object {
  if (isMute)
    return { state: "running", role: isLeader ? "primary" : "replica", patroni: { version: "3.0.2", scope: "demo" } };
  const xlog = isLeader ? { location: position } : { received_location: position, replayed_location: position };
  return {
    state: "running",
    role: isLeader ? "primary" : "replica",
    timeline,
    xlog,
    patroni: { version: "3.0.2", scope: "demo" },
  };
}
