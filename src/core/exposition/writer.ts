import { setImmediate } from "node:timers/promises";

/**
 * How long rendering goes on before it yields to checks, in ms: well below the limit, because garbage collection takes
 * time too.
 */
const sliceMs = 0.5;
/** The time is read once in so many pieces. */
const piecesPerTimeCheck = 8;

/** One metric family. Its samples are generated one by one, so that rendering can pause between them. */
export interface Family {
  readonly name: string;
  readonly type: "gauge" | "counter" | "histogram" | "untyped";
  readonly help: string;
  /** Lines of samples with their newlines, as made by `sampleLine`. */
  readonly samples: () => Iterable<string>;
}

/** The content type of the text exposition format. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Renders a page of the text exposition format in slices of at most 2 ms, and yields to other work in between. Families
 * without a sample are left out. The page is returned in pieces: joining megabytes would take longer than a slice.
 * @param now monotonic time, in ms
 */
export async function renderPage(
  families: Iterable<Family>,
  now: () => number = () => performance.now(),
): Promise<readonly Buffer[]> {
  const done: Buffer[] = [];
  let pending: string[] = [];
  let sliceBeganMs = now();
  let pieces = 0;
  for (const piece of piecesOf(families)) {
    pending.push(piece);
    pieces += 1;
    if (pieces % piecesPerTimeCheck !== 0 || now() - sliceBeganMs < sliceMs) continue;
    done.push(Buffer.from(pending.join("")));
    pending = [];
    await setImmediate();
    sliceBeganMs = now();
  }
  done.push(Buffer.from(pending.join("")));
  return done;
}

/** Collects the items of a generator, yielding as {@link renderPage} does. */
export async function inSlices<T>(
  items: Iterable<T>,
  now: () => number = () => performance.now(),
): Promise<readonly T[]> {
  const all: T[] = [];
  let sliceBeganMs = now();
  for (const item of items) {
    all.push(item);
    if (now() - sliceBeganMs < sliceMs) continue;
    await setImmediate();
    sliceBeganMs = now();
  }
  return all;
}

/** Formats one line: `name{cluster="demo",node="pg1"} 1`. @param labels as made by {@link labelsText} */
export function sampleLine(name: string, labels: string, value: number): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${numberText(value)}\n`;
}

/** Formats labels in the given order. Backslash, quote and newline are escaped, as the format requires. */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(",");
}

/** An empty piece stands for a missing sample: it only allows a pause. */
function* piecesOf(families: Iterable<Family>): Iterable<string> {
  for (const { name, type, help, samples } of families) {
    let head = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const line of samples()) {
      yield line === "" ? line : head + line;
      if (line !== "") head = "";
    }
  }
}

function escapeLabel(value: string): string {
  return /[\\"\n]/.test(value)
    ? value.replace(/[\\"\n]/g, (character) => (character === "\n" ? String.raw`\n` : `\\${character}`))
    : value;
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : String(value);
}
