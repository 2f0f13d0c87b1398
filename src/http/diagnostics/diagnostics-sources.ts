import type { Recorded } from "../../cluster/outcome.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";
import type { ClusterEvent } from "../../events/cluster-event.ts";
import type { LoggedChange } from "../../health/explain/summary.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import type { TargetNode } from "../node-api/target-node.ts";
import type { PageGate } from "../pages/page-gate.ts";

/** What diagnostics pages are rendered from. */
export interface DiagnosticsSources {
  readonly snapshot: () => Snapshot;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** Milliseconds of the monotonic clock. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly wall: () => number;
  readonly changes: (cluster: string, node: string) => readonly LoggedChange[];
  readonly recorded: (cluster: string, fromWallMs: number, toWallMs: number) => readonly Recorded[];
  /** The newest events of all clusters, oldest first. */
  readonly events: () => readonly ClusterEvent[];
  /** Limits how many pages are rendered at a time, and how often. */
  readonly gate: PageGate;
  /** Called with the status of each page. */
  readonly onAnswer?: (status: number) => void;
  /**
   * Which nodes were accused of being detached or stalled at an instant (ms since the epoch), with the accusations of
   * each.
   */
  readonly accused: (cluster: string, wallMs: number) => ReadonlyMap<string, readonly string[]>;
}

/** A diagnostics request with its target and parsed query. */
export interface DiagnosticsRequest {
  readonly target: TargetNode;
  readonly query: URLSearchParams;
}
