import type { Brought } from "../../health/conditions/condition.ts";
import type { LagLimit } from "../../cluster/lag-limit.ts";
import type { Recorded } from "../../cluster/outcome.ts";
import type { ClusterState, Snapshot } from "../../cluster/snapshot.ts";
import type { Accused } from "../../events/accusation-history.ts";
import type { ClusterEvent, EventKind } from "../../events/cluster-event.ts";
import type { StoredEvents, StoredEventsQuery } from "../../events/stored/past.ts";
import type { AskedOverview } from "../../health/documents/asked-nodes.ts";
import type { AskedCheck } from "../../health/rules/asked-checks.ts";
import type { LoggedChange } from "../../health/rules/summary.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import type { ConfigOverview } from "./config-overview.ts";
import type { TargetNode } from "../node-api/target-node.ts";
import type { PageGate } from "../pages/page-gate.ts";
import type { RenderingContext } from "../pages/rendering.ts";

/** What diagnostics pages are rendered from. */
export interface DiagnosticsSources {
  readonly snapshot: () => Snapshot;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly wall: () => number;
  readonly changes: (cluster: string, node: string) => readonly LoggedChange[];
  /** What was recorded of a cluster between two instants, in ms since the epoch. */
  readonly evidence: (time: EvidenceTime, reading: PageReadingContext) => Promise<IncidentEvidence>;
  /** The limits that the lag of a cluster's nodes is compared with now. */
  readonly limits: (cluster: string) => Promise<readonly LagLimit[]>;
  /** For which nodes balancers ask: gets the newest counts, and describes a cluster by them. */
  readonly asked: () => Promise<(cluster: ClusterState) => AskedOverview>;
  /** The checks with a limit for lag that balancers ask of a cluster's nodes, as far as that is known. */
  readonly askedChecks: (cluster: string) => readonly AskedCheck[];
  /** What features know of a cluster. */
  readonly brought: (cluster: string) => Brought;
  /** What features say of a cluster in addition. */
  readonly ofFeatures: (cluster: string) => object;
  /** Which configuration is in force, and which was refused. */
  readonly config: () => ConfigOverview;
  /** The kinds of events that there are, in the order in which they are listed. */
  readonly eventKinds: readonly EventKind[];
  /** The newest events, oldest first. */
  readonly events: () => readonly ClusterEvent[];
  /** The newest wanted events of the history on disk, oldest first; none if no history is kept. */
  readonly storedEvents: (query: StoredEventsQuery, reading: PageReadingContext) => Promise<StoredEvents>;
  /** Limits how many pages are rendered at a time, and how often. */
  readonly gate: PageGate;
  /** Called with the status of each page. */
  readonly onAnswer?: (status: number) => void;
}

/** The time of an incident. */
export interface EvidenceTime {
  readonly cluster: string;
  readonly fromWallMs: number;
  readonly toWallMs: number;
}

/** What happened to a cluster in a time. */
export interface IncidentEvidence {
  /** Oldest first. */
  readonly recorded: readonly Recorded[];
  /** Nodes that were accused of being detached or stalled at the beginning, with the accusations of each. */
  readonly accused: Accused;
  /**
   * Since when evidence is known, of any cluster, in ms since the epoch; `null` if there is none. The history on disk
   * counts only if memory alone did not have the evidence.
   */
  readonly sinceWallMs: number | null;
  /** `false` if evidence of that time was left out, because there is too much of it. */
  readonly isComplete: boolean;
}

/**
 * What the reading of a page's data needs: `turn` counts the time for which other requests wait. `signal` is aborted
 * when nobody waits for the data any more.
 */
export type PageReadingContext = Pick<RenderingContext, "turn" | "signal">;

/** A diagnostics request with its target and parsed query. */
export interface DiagnosticsRequest {
  readonly target: TargetNode;
  readonly query: URLSearchParams;
}
