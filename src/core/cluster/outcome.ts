import type { DcsResult } from "./dcs.ts";
import type { Report } from "./documents/report.ts";
import type { Drain } from "./drain.ts";
import type { ExporterPage, ExporterRole } from "./exporter/exporter-report.ts";
import type { DocumentAnswer } from "./snapshot.ts";
import type { Failure } from "./values/failure.ts";

/**
 * The result of one probe or of one read of the DCS, or a change of a drain. Nothing else changes a snapshot.
 * `sentAtMs` is in ms of rolecall's clock.
 */
export type ProbeOutcome =
  | StatusOutcome
  | LivenessOutcome
  | DocumentOutcome
  | ViewFailureOutcome
  | ExporterOutcome
  | CompanionOutcome
  | DrainOutcome
  | DcsOutcome;

export const outcomeKinds = [
  "status",
  "liveness",
  "document",
  "view_failure",
  "exporter",
  "companion",
  "drain",
  "dcs",
] as const satisfies readonly ProbeOutcome["kind"][];

/** The result of `GET /leader` at one node. */
export interface StatusOutcome {
  readonly kind: "status";
  readonly cluster: string;
  readonly node: string;
  readonly sentAtMs: number;
  readonly sentAtWallMs: number;
  readonly result: { readonly report: Report; readonly hasLock: boolean } | { readonly failure: Failure };
}

/** An answer of `GET /liveness` at one node. Failures are not recorded: they say nothing about the heartbeat loop. */
export interface LivenessOutcome {
  readonly kind: "liveness";
  readonly cluster: string;
  readonly node: string;
  readonly sentAtMs: number;
  readonly isAlive: boolean;
}

/** A document of the cluster, fetched from one node. */
export interface DocumentOutcome {
  readonly kind: "document";
  readonly cluster: string;
  readonly answer: DocumentAnswer;
}

/**
 * A request for a node's cluster document failed. Failed requests for other documents are not recorded: no verdict
 * depends on them.
 */
export interface ViewFailureOutcome {
  readonly kind: "view_failure";
  readonly cluster: string;
  readonly node: string;
  readonly sentAtMs: number;
  readonly failure: Failure;
}

/** An operator drains a node, or with `null` ends its drain. */
export interface DrainOutcome {
  readonly kind: "drain";
  readonly cluster: string;
  readonly node: string;
  readonly drain: Drain | null;
}

/** A linearizable read of the leader key in the DCS that differs from the last one, or a failure of the watch. */
export interface DcsOutcome {
  readonly kind: "dcs";
  readonly cluster: string;
  readonly sentAtMs: number;
  readonly result: DcsResult;
}

/** The result of `GET /up`, or of a metrics page, of one node's exporter. */
export interface ExporterOutcome {
  readonly kind: "exporter";
  readonly cluster: string;
  readonly node: string;
  readonly sentAtMs: number;
  readonly sentAtWallMs: number;
  readonly result: ExporterResult;
}

/**
 * What an exporter answered. Failures say nothing about the database, but they are all that is known about the
 * exporter.
 */
export type ExporterResult =
  | { readonly endpoint: "up"; readonly role: ExporterRole }
  | { readonly endpoint: "up"; readonly failure: Failure }
  | { readonly endpoint: "metrics"; readonly page: ExporterPage }
  | { readonly endpoint: "metrics"; readonly failure: Failure };

/** The result of a check of one node's companion. */
export interface CompanionOutcome {
  readonly kind: "companion";
  readonly cluster: string;
  readonly node: string;
  /** The name of the companion. */
  readonly companion: string;
  readonly sentAtMs: number;
  /** `null`: it answered. */
  readonly failure: Failure | null;
}

/** A recorded outcome, with the instant of recording in ms of rolecall's clock, and in ms of wall time for people. */
export interface Recorded {
  readonly atMs: number;
  readonly atWallMs: number;
  readonly outcome: ProbeOutcome;
}
