import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { ActionKind } from "./plan.ts";
import type { ProcessSample } from "./sample.ts";

/** How many connections, checks and answers a soak had. */
export interface LoadCounts {
  readonly answers: number;
  readonly yes: number;
  readonly unanswered: number;
  readonly agentAnswers: number;
  readonly late: number;
  readonly unexplainedLosses: number;
  readonly wrong: number;
  readonly excused: number;
}

/** An action as it was done. Instants in ms since the epoch. */
export interface DoneAction {
  readonly begunMs: number;
  /** When its result was there. */
  readonly atMs: number;
  readonly action: { readonly kind: ActionKind; readonly variant: string; readonly lastsMs: number };
  readonly result: string;
}

/** A scrape, with the counts so far. */
export interface ScrapeRecord {
  readonly atMs: number;
  readonly series: number;
  readonly foreign: number;
  readonly contained: number;
  readonly workersLost: number;
  readonly refused: number;
  readonly applied: number;
  readonly counts: LoadCounts;
  /** How long the process that waited longest for a processor in each second waited so far, in ms. */
  readonly waitedMs: number;
  /** Processor time so far: of rolecall in ms, of the soak in µs. */
  readonly cpuMs: { readonly rolecall: number; readonly soak: { readonly user: number; readonly system: number } };
}

/** The end of a soak. */
export interface EndRecord {
  readonly atMs: number;
  readonly wasRunning: boolean;
  readonly end: string;
  readonly counts: LoadCounts;
  readonly reloads: { readonly valid: number; readonly invalid: number };
  readonly killed: readonly number[];
}

/** All that a soak wrote. */
export interface SoakRecords {
  readonly begin: { readonly atMs: number; readonly minutes: number; readonly seed: number; readonly node: string };
  /** `null` while it runs, and if it was cut off. */
  readonly end: EndRecord | null;
  readonly actions: readonly DoneAction[];
  readonly scrapes: readonly ScrapeRecord[];
  /** Wrong answers and losses that nothing explains. */
  readonly problems: readonly Readonly<Record<string, unknown>>[];
  /** Actions and scrapes that failed. */
  readonly failed: readonly { readonly atMs: number; readonly what: string; readonly error: string }[];
  /** Lines of the log that may need an explanation. */
  readonly lines: readonly LoggedLine[];
  /** Seconds in which a process had no processor for a while, and gaps that rolecall found itself. */
  readonly gaps: readonly { readonly atMs: number; readonly lostMs: number }[];
  readonly samples: ReadonlyMap<number, readonly ProcessSample[]>;
}

/** A line of the level error or above, or one that is not JSON. */
export interface LoggedLine {
  readonly atMs: number;
  readonly level: string;
  readonly msg: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

type Row = Readonly<Record<string, unknown>> & { readonly record: string; readonly atMs: number };

/** Reads what a soak wrote. @throws Error if it never began */
export function readRecords(folder: string): SoakRecords {
  const rows = readLines(`${folder}/soak.jsonl`).flatMap(parsed) as Row[];
  const of = (record: string): readonly Row[] => rows.filter((row) => row.record === record);
  const [begin] = of("begin") as unknown as SoakRecords["begin"][];
  if (begin === undefined) throw new Error(`Cannot report a soak: ${folder} must hold a soak that began, got none`);
  const log = readLines(`${folder}/rolecall.log`).map(lineOf);
  const gaps = log.filter(({ msg }) => msg.startsWith("clock gap detected"));
  return {
    begin,
    end: (of("end") as unknown as EndRecord[])[0] ?? null,
    actions: of("action") as unknown as DoneAction[],
    scrapes: of("scrape") as unknown as ScrapeRecord[],
    problems: of("problem"),
    failed: of("failed") as unknown as SoakRecords["failed"],
    lines: log.filter(({ level }) => !["trace", "debug", "info", "warn"].includes(level)),
    gaps: [
      ...gaps.map(({ atMs, fields }) => ({ atMs, lostMs: Number(fields["gap_ms"]) + Number(fields["stall_ms"]) })),
      ...(of("starved") as unknown as SoakRecords["gaps"]),
    ],
    samples: samplesOf(folder),
  };
}

function samplesOf(folder: string): SoakRecords["samples"] {
  const files = readdirSync(folder).filter((file) => /^\d+\.jsonl$/.test(file));
  return new Map(
    files.map((file) => [Number.parseInt(file, 10), readLines(`${folder}/${file}`).flatMap(parsed) as ProcessSample[]]),
  );
}

function lineOf(text: string): LoggedLine {
  const [fields] = parsed(text) as Record<string, unknown>[];
  if (fields === undefined) return { atMs: Number.NaN, level: "none", msg: text, fields: {} };
  return {
    atMs: Date.parse(String(fields["time"])),
    level: String(fields["level"]),
    msg: String(fields["msg"]),
    fields,
  };
}

/** A process that was killed may leave half a line. */
function parsed(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}

function readLines(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}
