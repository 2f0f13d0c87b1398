import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** What was found about one mutant. */
export interface Result {
  readonly id: string;
  /** The test that failed; `null` if none did. */
  readonly killedBy: string | null;
  /** Why the test failed. */
  readonly message: string;
  /** Digest of the mutated file. */
  readonly source: string;
  /** Digest of all sources and tests. */
  readonly everything: string;
}

/**
 * Results in a file of JSON lines, so that a run that was interrupted goes on. A kill holds while the mutated file is
 * unchanged. That no test fails holds only while nothing is changed.
 */
export class Results {
  readonly #path: string;
  readonly #byId = new Map<string, Result>();

  constructor(path: string) {
    this.#path = path;
    if (!existsSync(path)) return;
    for (const line of readFileSync(path, "utf8").split("\n")) {
      if (line === "") continue;
      try {
        const result = JSON.parse(line) as Result;
        this.#byId.set(result.id, result);
      } catch {
        // The last line of an interrupted run may be incomplete.
      }
    }
  }

  /** Returns the result of a mutant if it still holds. */
  get(id: string, source: string, everything: string): Result | null {
    const result = this.#byId.get(id);
    if (result === undefined) return null;
    const holds = result.killedBy === null ? result.everything === everything : result.source === source;
    return holds ? result : null;
  }

  add(result: Result): void {
    this.#byId.set(result.id, result);
    appendFileSync(this.#path, `${JSON.stringify(result)}\n`);
  }
}
