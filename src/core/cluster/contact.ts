import type { Report } from "./documents/report.ts";
import type { Failure } from "./values/failure.ts";
import type { WitnessView } from "./witness-view.ts";

/**
 * What is known of a server at an address that no proved node has: an address of `discover`, or one that a member list
 * gives. It proves nothing about a node until the address proves itself for a member (rule 10).
 */
export interface Contact {
  /** Whether the first request has ended in any way. */
  readonly wasAsked: boolean;
  /** The last answer to `GET /leader`; `null` before the first one. */
  readonly answer: ContactAnswer | null;
  /** The newest view of who leads and where the members are; `null` before the first one. */
  readonly view: WitnessView | null;
  /** How many of its last probes in a row were answered under the name of the last answer; 0 after a failure. */
  readonly namedInRow: number;
  /** Failures since the last answer. */
  readonly failuresInRow: number;
  /** The last of these failures; `null` if there is none. */
  readonly failure: Failure | null;
  /** When the newest member list with the address was recorded, in ms of rolecall's clock; -Infinity if none has it. */
  readonly listedAtMs: number;
}

/** A report, whether the server claimed the lock with it, and when its probe was sent. */
export interface ContactAnswer {
  readonly report: Report;
  readonly hasLock: boolean;
  /** In ms of rolecall's clock. */
  readonly sentAtMs: number;
  /** The same instant in ms of wall time. For people only. */
  readonly sentAtWallMs: number;
}

/** The contact with an address that was not asked yet. */
export const noContact: Contact = {
  wasAsked: false,
  answer: null,
  view: null,
  namedInRow: 0,
  failuresInRow: 0,
  failure: null,
  listedAtMs: -Infinity,
};
