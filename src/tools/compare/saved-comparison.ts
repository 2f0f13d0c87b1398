import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import * as z from "zod";
import { parseJson } from "../../core/cluster/values/json.ts";
import type { Config } from "../../core/config/model/config.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { errorMessage } from "../../core/cluster/values/error-message.ts";
import type { CheckComparison } from "./comparison.ts";

/** Counts the responses. The fields are those of the command's JSON data. */
export interface ResponseCounts {
  node: number;
  rolecall: number;
  /** Requests that rolecall did not answer. */
  silent: number;
}

/** What a comparison has counted so far. */
export interface ComparisonState {
  readonly rounds: number;
  /** How long it has run, in ms, over all its runs. */
  readonly elapsedMs: number;
  readonly heard: ResponseCounts;
  readonly rows: readonly CheckComparison[];
}

const count = z.number().int().min(0);
const stateSchema = z.object({
  version: z.literal(1),
  configuration: z.string(),
  rounds: count,
  elapsed_ms: z.number().min(0),
  heard: z.object({ node: count, rolecall: count, silent: count }),
  rows: z.array(
    z.object({
      node: z.string(),
      check: z.string(),
      samples: count,
      agreements: count,
      differences: z.array(z.tuple([z.string(), count])),
      lasting: z.array(z.tuple([z.string(), z.object({ isRolecallFit: z.boolean(), count })])),
      leads: z.object({ rolecall: z.array(z.number()), node: z.array(z.number()), together: count }),
      blips: z.object({ rolecall: count, node: count }),
    }),
  ),
});

/** Identifies what is compared: the clusters and their nodes, the checks, and the running rolecall. */
export function comparisonKey(
  { clusters }: Pick<Config, "clusters">,
  compared: { readonly checks: readonly string[]; readonly server: string; readonly cluster: string | null },
): string {
  const sources = clusters.map(({ name, scope, discover, nodes }) => ({ name, scope, discover, nodes }));
  return createHash("sha256")
    .update(JSON.stringify({ sources, ...compared }))
    .digest("hex");
}

/** A file that keeps the counts of a comparison over restarts. */
export class ComparisonFile {
  readonly #file: string;
  readonly #key: string;

  /** @param key what is compared, as {@link comparisonKey} */
  constructor(file: string, key: string) {
    this.#file = file;
    this.#key = key;
  }

  /**
   * Reads the counts of earlier runs.
   * @returns `null` if there is no such file yet
   * @throws CommandError (RC006) if the file cannot be read, or belongs to another comparison
   */
  read(): ComparisonState | null {
    const text = this.#readText();
    if (text === null) return null;
    const read = stateSchema.safeParse(parseJson(text));
    if (!read.success)
      throw new CommandError("RC006", `Cannot resume from ${this.#file}: it must be a state file of rolecall compare`);
    const { configuration, elapsed_ms: elapsedMs, rows, ...counts } = read.data;
    if (configuration !== this.#key)
      throw new CommandError(
        "RC006",
        `Cannot resume from ${this.#file}: it belongs to a comparison of other clusters, nodes, checks or another ` +
          "server. Name another file, or delete this one",
      );
    return {
      ...counts,
      elapsedMs,
      rows: rows.map((row) => ({ ...row, differences: new Map(row.differences), lasting: new Map(row.lasting) })),
    };
  }

  /**
   * Writes the counts, as a draft that then replaces the file: a crash leaves the last counts that were written.
   * @throws CommandError (RC006) if the file cannot be written
   */
  write({ rounds, elapsedMs, heard, rows }: ComparisonState): void {
    const document: z.input<typeof stateSchema> = {
      version: 1,
      configuration: this.#key,
      rounds,
      elapsed_ms: elapsedMs,
      heard,
      rows: rows.map((row) => ({ ...row, differences: [...row.differences], lasting: [...row.lasting] })),
    };
    const draft = `${this.#file}.draft`;
    try {
      const descriptor = openSync(draft, "w", 0o600);
      try {
        writeFileSync(descriptor, `${JSON.stringify(document)}\n`);
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
      renameSync(draft, this.#file);
    } catch (error) {
      throw new CommandError("RC006", `Cannot write --state: ${errorMessage(error)}`);
    }
  }

  #readText(): string | null {
    try {
      return readFileSync(this.#file, "utf8");
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
      throw new CommandError("RC006", `Cannot read --state: ${errorMessage(error)}`);
    }
  }
}
