import type { ProbeOutcome, StatusOutcome } from "../cluster/outcome.ts";
import type { Report } from "../cluster/documents/report.ts";

/** An outcome on its way to the workers. A report that is the node's last one again is not sent again. */
export type SentOutcome =
  ProbeOutcome | (Omit<StatusOutcome, "kind" | "result"> & { readonly kind: "same_status"; readonly hasLock: boolean });

/** An outcome as it changed the snapshot. */
export interface SentChange {
  readonly outcome: SentOutcome;
  /** When it was recorded, in ms of our clock. */
  readonly nowMs: number;
  /** The number of the snapshot that came of it. */
  readonly sequence: number;
}

/** How long a change may wait for others to go with it, in ms: a message costs a worker more than what is in it. */
const gatheringMs = 5;

/** Collects what changes the snapshot within some milliseconds and sends it together: the change, not the whole. */
export class OutcomeFeed {
  readonly #send: (changes: readonly SentChange[]) => void;
  readonly #last = new Map<string, Report>();
  #pending: SentChange[] = [];

  /** @param send called once for what came together */
  constructor(send: (changes: readonly SentChange[]) => void) {
    this.#send = send;
  }

  /** Takes one change in, to be sent soon. */
  take(outcome: ProbeOutcome, nowMs: number, sequence: number): void {
    if (this.#pending.length === 0) setTimeout(() => this.flush(), gatheringMs);
    this.#pending.push({ outcome: this.#shortened(outcome), nowMs, sequence });
  }

  /** Sends what is waiting. */
  flush(): void {
    if (this.#pending.length === 0) return;
    const changes = this.#pending;
    this.#pending = [];
    this.#send(changes);
  }

  /** Sends what is waiting; from now on everything is sent in full, for somebody listens who has not heard what was. */
  resetCompression(): void {
    this.flush();
    this.#last.clear();
  }

  #shortened(outcome: ProbeOutcome): SentOutcome {
    if (outcome.kind !== "status" || "failure" in outcome.result) return outcome;
    const { report, hasLock } = outcome.result;
    const key = keyOf(outcome);
    if (this.#last.get(key) === report) {
      const { cluster, node, sentAtMs, sentAtWallMs } = outcome;
      return { kind: "same_status", cluster, node, sentAtMs, sentAtWallMs, hasLock };
    }
    this.#last.set(key, report);
    return outcome;
  }
}

/** The other end: gives the outcomes as they were. */
export class OutcomeReader {
  readonly #last = new Map<string, Report>();

  /** Forgets what was heard: the sender has begun anew. */
  resetCompression(): void {
    this.#last.clear();
  }

  /** @returns `undefined` where a report is said to be the last one and none was heard: the two ends have lost each other */
  read(sent: SentOutcome): ProbeOutcome | undefined {
    if (sent.kind === "same_status") {
      const report = this.#last.get(keyOf(sent));
      const { cluster, node, sentAtMs, sentAtWallMs, hasLock } = sent;
      return report === undefined
        ? undefined
        : { kind: "status", cluster, node, sentAtMs, sentAtWallMs, result: { report, hasLock } };
    }
    if (sent.kind === "status" && "report" in sent.result) this.#last.set(keyOf(sent), sent.result.report);
    return sent;
  }
}

function keyOf({ cluster, node }: { readonly cluster: string; readonly node: string }): string {
  return `${cluster}/${node}`;
}
