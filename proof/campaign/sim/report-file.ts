import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { SavedTally } from "./tally.ts";

/** Which runs a report is of. */
export interface ReportedRuns {
  readonly first: number;
  readonly last: number;
  readonly seconds: number;
  /** The kinds of faults, as the command line has them; null: all. */
  readonly kinds: string | null;
  /** The modes of clusters; null: all. */
  readonly modes: string | null;
  /** The ttls of clusters; null: all. */
  readonly ttl: string | null;
}

interface SavedReport {
  readonly runs: ReportedRuns;
  /** The first seed that has not run. */
  readonly next: number;
  readonly tally: SavedTally;
  /** The commands that repeat the runs that broke a promise. */
  readonly violations: readonly string[];
}

/** The report of a range of seeds in a file: a campaign that was interrupted continues where the file ends. */
export class ReportFile {
  readonly violations: string[];
  readonly next: number;
  readonly tally: SavedTally | null;
  readonly #path: string;
  readonly #runs: ReportedRuns;

  /** Reads the file, if there is one. It must be of the same runs. */
  constructor(path: string, runs: ReportedRuns) {
    this.#path = path;
    this.#runs = runs;
    const saved = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as SavedReport) : null;
    if (saved !== null && JSON.stringify(saved.runs) !== JSON.stringify(runs))
      throw new Error(
        `Cannot continue ${path}: its runs must be ${JSON.stringify(runs)}, got ${JSON.stringify(saved.runs)}`,
      );
    this.next = saved?.next ?? runs.first;
    this.tally = saved?.tally ?? null;
    this.violations = [...(saved?.violations ?? [])];
  }

  /** Writes what has been counted up to a seed, this one included. */
  save(seed: number, tally: SavedTally): void {
    const report: SavedReport = { runs: this.#runs, next: seed + 1, tally, violations: this.violations };
    writeFileSync(`${this.#path}.new`, `${JSON.stringify(report, null, 1)}\n`);
    renameSync(`${this.#path}.new`, this.#path);
  }
}
