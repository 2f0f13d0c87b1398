/** Why a stream is not read further: a line is too long, or there are too many of them. */
export type SplittingEnd = "too_long" | "too_many";

/** Splits a stream of bytes into lines. A line may come in pieces. */
export class LineSplitter {
  readonly #lineMax: number;
  readonly #takeLine: () => boolean;
  #pieces: Buffer[] = [];
  #length = 0;

  /**
   * @param lineMax the longest line accepted, in bytes
   * @param takeLine called for each line, also an empty one; returns whether it may be read
   */
  constructor(lineMax: number, takeLine: () => boolean = () => true) {
    this.#lineMax = lineMax;
    this.#takeLine = takeLine;
  }

  /** Adds a piece. @returns the lines that are complete now, without empty ones, or why it ends */
  add(chunk: Buffer): readonly string[] | SplittingEnd {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      if (this.#length + end - from > this.#lineMax) return "too_long";
      if (!this.#takeLine()) return "too_many";
      const line = Buffer.concat([...this.#pieces, chunk.subarray(from, end)]).toString();
      this.#pieces = [];
      this.#length = 0;
      from = end + 1;
      if (line.trim() !== "") lines.push(line);
    }
    if (from < chunk.length) {
      this.#pieces.push(chunk.subarray(from));
      this.#length += chunk.length - from;
    }
    return this.#length > this.#lineMax ? "too_long" : lines;
  }
}
