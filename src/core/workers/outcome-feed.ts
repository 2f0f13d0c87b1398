import type { ProbeOutcome, StatusOutcome } from "../cluster/outcome.ts";
import type { Report } from "../cluster/documents/report.ts";

/** An outcome on its way to the workers. A report that equals the node's last one is not sent again. */
export type SentOutcome =
  ProbeOutcome | (Omit<StatusOutcome, "kind" | "result"> & { readonly kind: "same_status"; readonly hasLock: boolean });

/** An outcome that changed the snapshot. */
export interface SentChange {
  readonly outcome: SentOutcome;
  /** When it was recorded, in ms of rolecall's clock. */
  readonly nowMs: number;
  /** The number of the new snapshot. */
  readonly sequence: number;
}

/** Calls a function after a delay in ms. */
type CallLater = (callback: () => void, delayMs: number) => unknown;

/** How long a change may wait for others to be sent with it, in ms: each message has a fixed cost. */
const batchMs = 5;

/** Sends to the workers, in batches, the outcomes that changed the snapshot, not the snapshot itself. */
export class OutcomeFeed {
  readonly #send: (changes: readonly SentChange[]) => void;
  readonly #callLater: CallLater;
  readonly #lastReports = new Map<string, Report>();
  #pending: SentChange[] = [];

  /** @param send called once for each batch */
  constructor(send: (changes: readonly SentChange[]) => void, callLater: CallLater = setTimeout) {
    this.#send = send;
    this.#callLater = callLater;
  }

  /** Adds one change to the next batch. */
  add(outcome: ProbeOutcome, nowMs: number, sequence: number): void {
    if (this.#pending.length === 0) this.#callLater(() => this.flush(), batchMs);
    this.#pending.push({ outcome: this.#compress(outcome), nowMs, sequence });
  }

  /** Sends the pending changes now. */
  flush(): void {
    if (this.#pending.length === 0) return;
    const changes = this.#pending;
    this.#pending = [];
    this.#send(changes);
  }

  /** Sends the pending changes, then forgets the last reports, so that each node's next report is sent in full: a new
   * reader does not know the earlier ones, and after a reload some may be of nodes that are gone. */
  flushAndReset(): void {
    this.flush();
    this.#lastReports.clear();
  }

  #compress(outcome: ProbeOutcome): SentOutcome {
    if (outcome.kind !== "status" || "failure" in outcome.result) return outcome;
    const { report, hasLock } = outcome.result;
    const key = keyOf(outcome);
    if (this.#lastReports.get(key) === report) {
      const { cluster, node, sentAtMs, sentAtWallMs } = outcome;
      return { kind: "same_status", cluster, node, sentAtMs, sentAtWallMs, hasLock };
    }
    this.#lastReports.set(key, report);
    return outcome;
  }
}

/** The receiving end of a feed: restores the outcomes. */
export class OutcomeReader {
  readonly #lastReports = new Map<string, Report>();

  /** Forgets earlier reports: the feed was reset. */
  reset(): void {
    this.#lastReports.clear();
  }

  /**
   * @returns `undefined` if it refers to an earlier report that this reader does not have: feed and reader are out of
   * sync
   */
  read(sent: SentOutcome): ProbeOutcome | undefined {
    if (sent.kind === "same_status") {
      const report = this.#lastReports.get(keyOf(sent));
      const { cluster, node, sentAtMs, sentAtWallMs, hasLock } = sent;
      return report === undefined
        ? undefined
        : { kind: "status", cluster, node, sentAtMs, sentAtWallMs, result: { report, hasLock } };
    }
    if (sent.kind === "status" && "report" in sent.result) this.#lastReports.set(keyOf(sent), sent.result.report);
    return sent;
  }
}

function keyOf({ cluster, node }: { readonly cluster: string; readonly node: string }): string {
  return `${cluster}/${node}`;
}
