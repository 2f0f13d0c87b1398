import { createHash } from "node:crypto";
import type { ClusterConfig, ProbeConfig } from "./model/config.ts";

/** The version of the protocol in which outcomes travel. One that adds fields is the same: unknown fields are ignored. */
export const feedProtocol = 1;

/** Key of the configuration -> a digest of its value. */
export type OutcomeShape = Readonly<Record<string, string>>;

/** In the order in which a shared shape has them. A change of the list is another version of the protocol. */
const outcomeKeys = [
  "scope",
  "discover",
  "nodes",
  "companions",
  "dcs",
  "probe.interval",
  "probe.timeout",
  "probe.cluster_interval",
  "probe.metrics_interval",
] as const;

/**
 * The keys of the configuration that shape outcomes: whom an owner asks, what, and how often. They must agree with those
 * of its followers. Keys that only judge outcomes (guards, `max_age`, `fall`, `rise`) may differ.
 */
export function outcomeShape(cluster: ClusterConfig, probe: ProbeConfig): OutcomeShape {
  const known = shapes.get(cluster.nodes);
  if (known?.probe === probe && shapingKeys.every((key) => known.cluster[key] === cluster[key])) return known.shape;
  const shape = shapeOf(cluster, probe);
  shapes.set(cluster.nodes, { cluster, probe, shape });
  return shape;
}

/** What shapes were computed from: streams compare those of all clusters again and again. */
const shapes = new WeakMap<
  ClusterConfig["nodes"],
  { readonly cluster: ClusterConfig; readonly probe: ProbeConfig; readonly shape: OutcomeShape }
>();
const shapingKeys = ["scope", "discover", "companions", "dcs"] as const;

function shapeOf({ scope, discover, nodes, companions, dcs }: ClusterConfig, probe: ProbeConfig): OutcomeShape {
  const values: Readonly<Record<(typeof outcomeKeys)[number], unknown>> = {
    scope,
    discover: discover.toSorted(),
    nodes: nodes
      .map(({ name, member, api, exporter, companions: own }) => ({ name, member, api, exporter, own }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    companions,
    dcs: dcs === null ? null : { prefix: dcs.prefix, scope: dcs.scope, kubernetes: dcs.kubernetes },
    "probe.interval": probe.intervalMs,
    "probe.timeout": probe.timeoutMs,
    "probe.cluster_interval": probe.clusterIntervalMs,
    "probe.metrics_interval": probe.metricsIntervalMs,
  };
  return Object.fromEntries(outcomeKeys.map((key) => [key, digestOf(values[key])]));
}

/** The first key in which two shapes differ; `null` if they agree. A key that only one has is of another version. */
export function firstDifference(one: OutcomeShape, other: Readonly<Record<string, unknown>>): string | null {
  return Object.keys(one).find((key) => other[key] !== undefined && one[key] !== other[key]) ?? null;
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64").slice(0, 12);
}

/** How many characters of each digest a shared shape has: equal ones that hide a difference are one in 200,000. */
const sharedLength = 3;

/**
 * The same in one short text, with the version of the protocol: only members that agree share a cluster. An owner
 * compares the whole digests again before it feeds a follower.
 */
export function sharedShape(cluster: ClusterConfig, probe: ProbeConfig): string {
  const digests = Object.values(outcomeShape(cluster, probe)).map((digest) => digest.slice(0, sharedLength));
  return `${feedProtocol}.${digests.join("").replaceAll(/\W/g, "-")}`;
}

/** The first key in which two shared shapes differ, `version` if they are of two protocols; `null` if they agree. */
export function sharedDifference(one: string, other: string): string | null {
  if (one === other) return null;
  const [[protocol, digests = ""], [otherProtocol, otherDigests = ""]] = [one.split("."), other.split(".")];
  if (protocol !== otherProtocol) return "version";
  return outcomeKeys.find((_, at) => sharedAt(digests, at) !== sharedAt(otherDigests, at)) ?? "version";
}

function sharedAt(digests: string, at: number): string {
  return digests.slice(at * sharedLength, (at + 1) * sharedLength);
}
