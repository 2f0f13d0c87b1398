import type { Guards } from "./guards.ts";

/** What the judgement of one cluster goes by. */
export interface HealthPolicy {
  readonly guards: Guards;
  /** How old evidence may be for a yes, before the cluster's own bound (rule 1), in milliseconds. */
  readonly maxAgeMs: number;
  /** Liveness is asked at its own pace and has its own age, in milliseconds. */
  readonly livenessMaxAgeMs: number;
  /** A page of an exporter is asked for at its own pace and has its own age, in milliseconds. */
  readonly pageMaxAgeMs: number;
  /** A view of who leads (a node's cluster document) counts for less than this, in milliseconds. */
  readonly viewMaxAgeMs: number;
  /** Failures in a row until a node is down, answers in a row until it is back (rule 8). */
  readonly fall: number;
  readonly rise: number;
  /** The probes' interval, in milliseconds: how finely time lag is known. */
  readonly intervalMs: number;
  /** How long a node may take to answer a probe, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether members come and go with the cluster document (rule 10). */
  readonly discovers: boolean;
  /**
   * The http addresses that the node password may go to: those that the configuration itself names, in a cluster with TLS. Left out
   * where there is no password, or no TLS to fall back from.
   */
  readonly clearPasswordFor?: readonly string[];
}
