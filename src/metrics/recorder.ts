import type { Outcome, Recorded } from "../cluster/outcome.ts";

/** Evidence is kept this long at most, in ms. */
const keptMs = 15 * 60_000;
/** Evidence of all clusters together may take this many bytes of documents; where there are many nodes it reaches less far back. */
const bytesMax = 8 * 1024 * 1024;
/** What an outcome takes beside its document. */
const overheadBytes = 400;

/** The evidence of the last minutes, so that a bad night can be taken out as an incident file. Bounded in time and size. */
export class Recorder {
  #entries: Recorded[] = [];
  /** How many entries at the front are already given up; they go in one cut when they are many. */
  #gone = 0;
  #bytes = 0;

  take(outcome: Outcome, atMs: number, atWallMs: number): void {
    this.#entries.push({ atMs, atWallMs, outcome });
    this.#bytes += sizeOf(outcome);
    for (let first = this.#entries[this.#gone]; first !== undefined; first = this.#entries[this.#gone]) {
      if (this.#bytes <= bytesMax && atMs - first.atMs <= keptMs) break;
      this.#bytes -= sizeOf(first.outcome);
      this.#gone += 1;
    }
    if (this.#gone < 1_000 || this.#gone < this.#entries.length / 2) return;
    this.#entries = this.#entries.slice(this.#gone);
    this.#gone = 0;
  }

  /** What was recorded of a cluster from one wall-clock instant to another, oldest first. */
  between(cluster: string, fromWallMs: number, toWallMs: number): readonly Recorded[] {
    return this.#entries
      .slice(this.#gone)
      .filter(({ outcome, atWallMs }) => outcome.cluster === cluster && atWallMs >= fromWallMs && atWallMs <= toWallMs);
  }
}

/** A document is kept as text, of two bytes a character at most, and not much more of it as what was read. */
function sizeOf(outcome: Outcome): number {
  if (outcome.kind === "document") return overheadBytes + 2 * outcome.answer.served.body.length;
  return overheadBytes + (outcome.kind === "status" && "report" in outcome.result ? 2 * outcome.result.report.document.length : 0);
}
