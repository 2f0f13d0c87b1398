import type { Companion } from "../cluster/companion.ts";
import type { Guards } from "./guards.ts";

/** The settings that one cluster is judged by. Durations in milliseconds. */
export interface HealthPolicy {
  readonly guards: Guards;
  /** The maximum age of evidence for a yes, before the cluster's own bound (rule 1). */
  readonly maxAgeMs: number;
  /** The maximum age of a liveness answer: liveness is probed at an interval of its own. */
  readonly livenessMaxAgeMs: number;
  /** The maximum age of an exporter's page: pages are fetched at an interval of their own. */
  readonly pageMaxAgeMs: number;
  /** A view of who leads (a node's cluster document) counts while it is younger than this. */
  readonly viewMaxAgeMs: number;
  /** Failures in a row until a node is down (rule 8). */
  readonly fall: number;
  /** Answers in a row until a node that was down is up again (rule 8). */
  readonly rise: number;
  /** The interval of the status probes: the resolution of time lag. */
  readonly intervalMs: number;
  /** How long a node may take to answer a probe. */
  readonly timeoutMs: number;
  /** Whether cluster documents add and remove members (rule 10). */
  readonly discovers: boolean;
  /** The cluster that this standby cluster replicates from, if its source is configured. */
  readonly source?: string;
  /** The tag in which nodes state their zone, if one is configured. */
  readonly zoneTag?: string;
  /** The companions of each node, if any is configured. */
  readonly companions?: readonly Companion[];
  /** The addresses that the configuration gives: those of `discover` and of `nodes`. */
  readonly configured: readonly string[];
  /**
   * The http addresses that may receive the node password: those of the configuration itself, in a cluster with TLS.
   * Absent if there is no password, or no TLS to downgrade from.
   */
  readonly clearPasswordFor?: readonly string[];
}

/** The policy of a cluster, and the instant at which its evidence is evaluated. */
export interface EvaluationContext {
  readonly policy: HealthPolicy;
  /** In ms of rolecall's clock. */
  readonly nowMs: number;
}
