import { createHash } from "node:crypto";
import type { ClusterConfig, ProbeConfig } from "../../config/model/config.ts";
import { feedProtocol } from "./feed-messages.ts";

/** Key of the configuration -> a digest of its value. */
export type OutcomeShape = Readonly<Record<string, string>>;

/**
 * The keys of the configuration that shape outcomes: whom an owner asks, what, and how often. They must agree with those
 * of its followers. Keys that only judge outcomes (guards, `max_age`, `fall`, `rise`) may differ.
 */
export function outcomeShape(cluster: ClusterConfig, probe: ProbeConfig): OutcomeShape {
  const { scope, discover, nodes, companions, dcs } = cluster;
  const values: Readonly<Record<string, unknown>> = {
    scope,
    discover: discover.toSorted(),
    nodes: nodes
      .map(({ name, member, api, exporter, companions: own }) => ({ name, member, api, exporter, own }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    companions,
    dcs: dcs === null ? null : { prefix: dcs.prefix, scope: dcs.scope },
    "probe.interval": probe.intervalMs,
    "probe.timeout": probe.timeoutMs,
    "probe.cluster_interval": probe.clusterIntervalMs,
    "probe.metrics_interval": probe.metricsIntervalMs,
  };
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, digestOf(value)]));
}

/** The first key in which two shapes differ; `null` if they agree. A key that only one has is of another version. */
export function firstDifference(one: OutcomeShape, other: OutcomeShape): string | null {
  return Object.keys(one).find((key) => other[key] !== undefined && one[key] !== other[key]) ?? null;
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64").slice(0, 12);
}

/** The same for all keys together, and the version of the protocol: only members that agree share a cluster. */
export function sharedShape(cluster: ClusterConfig, probe: ProbeConfig): string {
  return digestOf([feedProtocol, outcomeShape(cluster, probe)]).replace(/\W/g, "-");
}
