import type { DrainOutcome, ProbeOutcome, Recorded } from "../cluster/outcome.ts";

/** Evidence is kept this long at most, in ms. */
const keptMs = 15 * 60_000;
/** Evidence of all clusters together may take this many bytes of documents; where there are many nodes it reaches less far back. */
const bytesMax = 8 * 1024 * 1024;
/** What an outcome takes beside its document. */
const overheadBytes = 400;
/** What a standby takes in a page of an exporter. */
const senderBytes = 200;

/** The evidence of the last minutes, so that a bad night can be taken out as an incident file. Bounded in time and size. */
export class OutcomeRecorder {
  #entries: Recorded[] = [];
  /** How many entries at the front are already given up; they go in one cut when they are many. */
  #gone = 0;
  #bytes = 0;
  /** Drains that began longer ago than evidence is kept and may still be in force, by cluster and node, the oldest first. */
  readonly #drains = new Map<string, Recorded>();

  /** @param atMs ms of our clock */
  take(outcome: ProbeOutcome, atMs: number, atWallMs: number): void {
    this.#entries.push({ atMs, atWallMs, outcome });
    this.#bytes += sizeOf(outcome);
    for (let first = this.#entries[this.#gone]; first !== undefined; first = this.#entries[this.#gone]) {
      if (this.#bytes <= bytesMax && atMs - first.atMs <= keptMs) break;
      this.#bytes -= sizeOf(first.outcome);
      this.#gone += 1;
      if (first.outcome.kind === "drain") this.#keepDrain(first, first.outcome, atMs);
    }
    if (this.#gone < 1_000 || this.#gone < this.#entries.length / 2) return;
    this.#entries = this.#entries.slice(this.#gone);
    this.#gone = 0;
  }

  /**
   * What was recorded of a cluster from one wall-clock instant to another, oldest first. The drains that were in force at the beginning
   * come before all else, however long ago they began.
   */
  between(cluster: string, fromWallMs: number, toWallMs: number): readonly Recorded[] {
    const known = [...this.#drains.values(), ...this.#entries.slice(this.#gone)].filter(
      ({ outcome }) => outcome.cluster === cluster,
    );
    const inForce = new Map<string, Recorded>();
    for (const recorded of known) {
      const { outcome, atWallMs } = recorded;
      if (outcome.kind !== "drain" || atWallMs >= fromWallMs) continue;
      inForce.delete(outcome.node);
      if (endWallMs(outcome, recorded) > fromWallMs) inForce.set(outcome.node, recorded);
    }
    return [...inForce.values(), ...known.filter(({ atWallMs }) => atWallMs >= fromWallMs && atWallMs <= toWallMs)];
  }

  #keepDrain(recorded: Recorded, { cluster, node, drain }: DrainOutcome, nowMs: number): void {
    for (const [key, { outcome }] of this.#drains) {
      if (outcome.kind === "drain" && outcome.drain !== null && nowMs - outcome.drain.untilMs > keptMs)
        this.#drains.delete(key);
    }
    const key = `${cluster}/${node}`;
    this.#drains.delete(key);
    if (drain !== null) this.#drains.set(key, recorded);
  }
}

/** When a drain ends by itself, in wall-clock ms; -Infinity of the word that ends one. */
function endWallMs({ drain }: DrainOutcome, { atMs, atWallMs }: Recorded): number {
  return drain === null ? -Infinity : atWallMs + drain.untilMs - atMs;
}

/** A document is kept as text, of two bytes a character at most, and not much more of it as what was read. */
function sizeOf(outcome: ProbeOutcome): number {
  switch (outcome.kind) {
    case "document":
      return overheadBytes + 2 * outcome.answer.served.body.length;
    case "status":
      return overheadBytes + ("report" in outcome.result ? 2 * outcome.result.report.document.length : 0);
    case "exporter":
      return overheadBytes + ("page" in outcome.result ? senderBytes * outcome.result.page.senders.length : 0);
    case "liveness":
    case "view_failure":
    case "drain":
      return overheadBytes;
  }
}
