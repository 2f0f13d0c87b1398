import { setImmediate } from "node:timers/promises";

/** How long rendering goes on before it lets checks be answered, in ms: well below what is allowed, as garbage has to be collected too. */
const sliceMs = 0.5;
/** How often the time is looked at: once in so many pieces. */
const piecesPerLook = 8;

/** One metric: its lines of samples come one at a time, so that rendering can pause between them. */
export interface Family {
  readonly name: string;
  readonly type: "gauge" | "counter" | "histogram" | "untyped";
  readonly help: string;
  /** Lines of samples, each with its newline; `sampleLine` makes them. */
  readonly samples: () => Iterable<string>;
}

/** The content type of the text exposition format. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Renders a page of the text exposition format in slices of at most 2 ms, with whatever else waits served in between. Families without
 * a sample are left out. The page comes in pieces: to put megabytes together would take longer than a slice.
 * @param now monotonic time, in ms
 */
export async function renderPage(
  families: Iterable<Family>,
  now: () => number = () => performance.now(),
): Promise<readonly Buffer[]> {
  const done: Buffer[] = [];
  let pending: string[] = [];
  let beganMs = now();
  let pieces = 0;
  for (const piece of piecesOf(families)) {
    pending.push(piece);
    pieces += 1;
    if (pieces % piecesPerLook !== 0 || now() - beganMs < sliceMs) continue;
    done.push(Buffer.from(pending.join("")));
    pending = [];
    await setImmediate();
    beganMs = now();
  }
  done.push(Buffer.from(pending.join("")));
  return done;
}

/** Collects what a generator gives, pausing as {@link renderPage} does. */
export async function inSlices<T>(
  items: Iterable<T>,
  now: () => number = () => performance.now(),
): Promise<readonly T[]> {
  const all: T[] = [];
  let beganMs = now();
  for (const item of items) {
    all.push(item);
    if (now() - beganMs < sliceMs) continue;
    await setImmediate();
    beganMs = now();
  }
  return all;
}

/** One line: `name{cluster="demo",node="pg1"} 1`. `labels` as {@link labelsText} makes them. */
export function sampleLine(name: string, labels: string, value: number): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${numberText(value)}\n`;
}

/** Labels in the order given, escaped as the format wants it: backslash, quote, newline. */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",");
}

/** An empty piece is a sample that was not there: it only lets the time be looked at. */
function* piecesOf(families: Iterable<Family>): Iterable<string> {
  for (const { name, type, help, samples } of families) {
    let head = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const line of samples()) {
      yield line === "" ? line : head + line;
      if (line !== "") head = "";
    }
  }
}

function escaped(value: string): string {
  return /[\\"\n]/.test(value)
    ? value.replace(/[\\"\n]/g, (character) => (character === "\n" ? String.raw`\n` : `\\${character}`))
    : value;
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : String(value);
}
