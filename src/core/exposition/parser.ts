import type { Sample } from "../cluster/exporter/sample.ts";

/**
 * The longest line that is read, in bytes. A longer one is skipped and not buffered: those of real pages are far
 * shorter.
 */
const lineMax = 65_536;
/** The most samples that are kept, more than any database has. Further ones are dropped. */
const samplesMax = 4_096;
/** The most bytes of lines that are kept. Samples of further ones are dropped. */
const keptMax = 1024 * 1024;
/** A page may have this many lines, and one more for every so many bytes: each line has a cost. The rest is skipped. */
const lineLimits = { free: 65_536, bytes: 16 } as const;

const newline = 0x0a;
const empty: Buffer = Buffer.alloc(0);

/**
 * Reads a page in the text exposition format piece by piece, and keeps the samples of the wanted names
 * (Prometheus documentation, "Exposition formats"). Never holds more than one line and `samplesMax` samples, and never
 * throws: lines that cannot be read are skipped, as are comments and values that are not finite numbers.
 */
export class ExpositionReader {
  readonly #wanted: ReadonlySet<string>;
  readonly #samples: Sample[] = [];
  /** The beginning of an incomplete line. */
  #rest: Buffer = empty;
  #isSkipping = false;
  #kept = 0;
  #lines = 0;
  #bytes = 0;

  constructor(wanted: ReadonlySet<string>) {
    this.#wanted = wanted;
  }

  /** The samples found so far. */
  get samples(): readonly Sample[] {
    return this.#samples;
  }

  /** How many bytes of an incomplete line are buffered, and how many samples were kept. */
  get held(): { readonly bytes: number; readonly samples: number } {
    return { bytes: this.#rest.length, samples: this.#samples.length };
  }

  /** Adds the next piece of the page. It may end anywhere in a line. */
  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const linesMax = lineLimits.free + this.#bytes / lineLimits.bytes;
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      if (this.#isSkipping) this.#isSkipping = false;
      else if (this.#rest.length === 0) this.#readLine(chunk.subarray(start, end));
      else this.#readLine(Buffer.concat([this.#rest, chunk.subarray(start, end)]));
      this.#rest = empty;
      start = end + 1;
      this.#lines += 1;
      if (this.#lines > linesMax) return;
    }
    if (this.#isSkipping || start === chunk.length) return;
    if (this.#rest.length + chunk.length - start > lineMax) {
      this.#isSkipping = true;
      this.#rest = empty;
      return;
    }
    this.#rest = Buffer.concat([this.#rest, chunk.subarray(start)]);
  }

  /** Ends the page. Its last line may lack a newline. @returns all samples */
  end(): readonly Sample[] {
    if (this.#rest.length > 0) this.#readLine(this.#rest);
    this.#rest = empty;
    return this.#samples;
  }

  #readLine(line: Buffer): void {
    if (line.length > lineMax || this.#samples.length >= samplesMax || this.#kept + line.length > keptMax) return;
    const nameEnd = endOfName(line);
    // Most lines have unwanted names and are skipped by the name alone.
    if (nameEnd === 0 || !this.#wanted.has(line.toString("latin1", 0, nameEnd))) return;
    const sample = parseSample(line.toString("utf8"));
    if (sample === undefined) return;
    this.#kept += line.length;
    this.#samples.push(sample);
  }
}

/** The end of the metric's name: ASCII letters, digits, `_` and `:`. 0 for a comment or anything else. */
function endOfName(line: Buffer): number {
  let at = 0;
  while (at < line.length && isNameByte(line[at] ?? 0)) at += 1;
  return at;
}

function isNameByte(byte: number): boolean {
  return (
    (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x30 && byte <= 0x3a) || byte === 0x5f || (byte >= 0x41 && byte <= 0x5a)
  );
}

const head = /^([a-zA-Z_:][a-zA-Z0-9_:]*)[ \t]*/;
const label = /[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*(,?)/y;
const tail = /^[ \t]*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?:[ \t]+-?\d+)?[ \t\r]*$/;
const labelsMax = 64;

/**
 * Reads one line: `name{label="value"} 1.5 [timestamp]`.
 * @returns `undefined` if it is not a sample, or if its value is not a finite number
 */
export function parseSample(line: string): Sample | undefined {
  const match = head.exec(line);
  if (match === null) return undefined;
  const [all, name = ""] = match;
  const labels = new Map<string, string>();
  let at = all.length;
  if (line[at] === "{") {
    const end = readLabels(line, at + 1, labels);
    if (end === undefined) return undefined;
    at = end;
  }
  const value = Number(tail.exec(line.slice(at))?.[1] ?? Number.NaN);
  return Number.isFinite(value) ? { name, labels, value } : undefined;
}

/** @returns the position after the closing brace; `undefined` if the labels cannot be read */
function readLabels(line: string, from: number, labels: Map<string, string>): number | undefined {
  let at = from;
  for (let count = 0; count < labelsMax; count += 1) {
    label.lastIndex = at;
    const match = label.exec(line);
    if (match === null) break;
    labels.set(match[1] ?? "", unescapeLabel(match[2] ?? ""));
    at = label.lastIndex;
    if (match[3] === "") break;
  }
  while (line[at] === " " || line[at] === "\t") at += 1;
  return line[at] === "}" ? at + 1 : undefined;
}

function unescapeLabel(text: string): string {
  return text.includes("\\")
    ? text.replace(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character))
    : text;
}
