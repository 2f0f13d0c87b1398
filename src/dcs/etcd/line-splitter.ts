/** Splits a stream of bytes into lines. A line may come in pieces; a line that is too long ends the stream. */
export class LineSplitter {
  readonly #lineMax: number;
  #pieces: Buffer[] = [];
  #length = 0;

  /** @param lineMax the longest line accepted, in bytes */
  constructor(lineMax: number) {
    this.#lineMax = lineMax;
  }

  /** Adds a piece. @returns the lines that are complete now, without empty ones; `null` if a line is too long */
  add(chunk: Buffer): readonly string[] | null {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      if (this.#length + end - from > this.#lineMax) return null;
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
    return this.#length > this.#lineMax ? null : lines;
  }
}
