import type { Drain } from "./drain.ts";
import type { ExporterPage, ExporterRole } from "./exporter/exporter-report.ts";
import type { Failure } from "./values/failure.ts";
import type { Report } from "./documents/report.ts";
import type { DocumentAnswer } from "./snapshot.ts";

/** How one probe ended, or an operator's word: the only things that ever change a snapshot. */
export type ProbeOutcome =
  StatusOutcome | LivenessOutcome | DocumentOutcome | ViewFailureOutcome | ExporterOutcome | DrainOutcome;

/** `GET /leader` of one node. */
export interface StatusOutcome {
  readonly kind: "status";
  readonly cluster: string;
  readonly node: string;
  readonly sentAtMs: number;
  readonly sentAtWallMs: number;
  readonly result: { readonly report: Report; readonly hasLock: boolean } | { readonly failure: Failure };
}

/** `GET /liveness` of one node. Only an answer is told: silence says nothing of the heartbeat loop. */
export interface LivenessOutcome {
  readonly kind: "liveness";
  readonly cluster: string;
  readonly node: string;
  readonly sentAtMs: number;
  readonly isAlive: boolean;
}

/** A document of the cluster, asked of one node. */
export interface DocumentOutcome {
  readonly kind: "document";
  readonly cluster: string;
  readonly answer: DocumentAnswer;
}

/** A node that was asked for the cluster document did not answer with one. Of the other documents nothing hangs on a failure. */
export interface ViewFailureOutcome {
  readonly kind: "view_failure";
  readonly cluster: string;
  readonly node: string;
  readonly sentAtMs: number;
  readonly failure: Failure;
}

/** An operator drains a node, or with `null` takes it back. */
export interface DrainOutcome {
  readonly kind: "drain";
  readonly cluster: string;
  readonly node: string;
  readonly drain: Drain | null;
}

/** `GET /up`, or a page of metrics, of one node's exporter. */
export interface ExporterOutcome {
  readonly kind: "exporter";
  readonly cluster: string;
  readonly node: string;
  readonly sentAtMs: number;
  readonly sentAtWallMs: number;
  readonly result: ExporterResult;
}

/** Silence and noise are told too: they are no word on the database, but the only one on the exporter. */
export type ExporterResult =
  | { readonly asked: "up"; readonly word: ExporterRole }
  | { readonly asked: "up"; readonly failure: Failure }
  | { readonly asked: "metrics"; readonly page: ExporterPage }
  | { readonly asked: "metrics"; readonly failure: Failure };

/** An outcome that was recorded, and when: on our clock, and in wall time for people. In ms. */
export interface Recorded {
  readonly atMs: number;
  readonly atWallMs: number;
  readonly outcome: ProbeOutcome;
}
