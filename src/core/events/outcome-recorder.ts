import type { DrainOutcome, ProbeOutcome, Recorded } from "../cluster/outcome.ts";

/** How long evidence is kept at most, in ms. */
const keptMs = 15 * 60_000;
/** How many bytes the evidence of all clusters may take. With many nodes it covers a shorter time. */
const bytesMax = 8 * 1024 * 1024;
/** The size of an outcome without its document, in bytes. */
const overheadBytes = 400;
/** The size of a sender in an exporter page, in bytes. */
const senderBytes = 200;

/** The evidence of the last minutes, from which incident files are made. Bounded in time and size. */
export class OutcomeRecorder {
  #entries: Recorded[] = [];
  /** How many entries at the front are dropped already. They are removed together, because that copies all others. */
  #dropped = 0;
  #bytes = 0;
  /** Drains that began before the kept evidence and may still be in force, by cluster and node, oldest first. */
  readonly #drains = new Map<string, Recorded>();

  /**
   * Adds an outcome.
   * @param atMs when it was recorded, in ms of rolecall's clock
   * @param atWallMs the same in ms since the epoch
   */
  add(outcome: ProbeOutcome, atMs: number, atWallMs: number): void {
    this.#entries.push({ atMs, atWallMs, outcome });
    this.#bytes += sizeOf(outcome);
    for (let first = this.#entries[this.#dropped]; first !== undefined; first = this.#entries[this.#dropped]) {
      if (this.#bytes <= bytesMax && atMs - first.atMs <= keptMs) break;
      this.#bytes -= sizeOf(first.outcome);
      this.#dropped += 1;
      if (first.outcome.kind === "drain") this.#keepDrain(first, first.outcome, atMs);
    }
    if (this.#dropped < 1_000 || this.#dropped < this.#entries.length / 8) return;
    this.#entries = this.#entries.slice(this.#dropped);
    this.#dropped = 0;
  }

  /** The wall-clock time since which all evidence is kept here; Infinity if there is none. */
  get sinceWallMs(): number {
    return this.#entries[this.#dropped]?.atWallMs ?? Infinity;
  }

  /**
   * What was recorded of a cluster between two wall-clock times, oldest first. Drains that were in force at the
   * beginning come first, however long ago they began.
   */
  between(cluster: string, fromWallMs: number, toWallMs: number): readonly Recorded[] {
    const known = [...this.#drains.values(), ...this.#entries.slice(this.#dropped)].filter(
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

/** When a drain expires, in ms since the epoch; -Infinity for the end of a drain by an operator. */
function endWallMs({ drain }: DrainOutcome, { atMs, atWallMs }: Recorded): number {
  return drain === null ? -Infinity : atWallMs + drain.untilMs - atMs;
}

/** An upper estimate in bytes: documents are kept as text, with at most two bytes a character. */
function sizeOf(outcome: ProbeOutcome): number {
  switch (outcome.kind) {
    case "document":
      return overheadBytes + 2 * outcome.answer.served.body.length;
    case "status":
      return overheadBytes + ("report" in outcome.result ? 2 * outcome.result.report.document.length : 0);
    case "exporter":
      return overheadBytes + ("page" in outcome.result ? senderBytes * outcome.result.page.senders.length : 0);
    case "liveness":
    case "companion":
    case "view_failure":
    case "dcs":
    case "drain":
      return overheadBytes;
  }
}
