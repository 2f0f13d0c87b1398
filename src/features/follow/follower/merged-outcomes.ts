import type { DcsRead } from "../../../core/cluster/dcs.ts";
import type { DcsOutcome, DrainOutcome, ProbeOutcome, StatusOutcome } from "../../../core/cluster/outcome.ts";

/** More failures in a row than any rule counts. */
const failuresMax = 64;

/** More sources than one server has: documents, the heartbeat, an exporter and companions. */
const sourcesMax = 16;

/** What was recorded of one server's status. */
interface KnownStatus {
  /** When the newest answer was asked for, in ms of rolecall's clock. */
  answeredAtMs: number;
  /** The failures since, oldest first. */
  failures: StatusOutcome[];
}

/**
 * Merges the outcomes of several sources about one cluster by the times of their requests, not by their arrival, so that
 * they add up to what one prober would have recorded. An outcome older than what is known of the same is dropped. A
 * failure that overtook an earlier answer is recorded once more after it.
 */
export class MergedOutcomes {
  readonly #newest = new Map<string, number>();
  readonly #statuses = new Map<string, KnownStatus>();
  #dcs: { readonly read: DcsRead; readonly sentAtMs: number } | null = null;

  /** Takes an outcome. @returns what is to be recorded now, in this order */
  take(outcome: Exclude<ProbeOutcome, DrainOutcome>): readonly ProbeOutcome[] {
    if (outcome.kind === "status") return this.#takeStatus(outcome);
    if (outcome.kind === "dcs") return this.#takeDcs(outcome);
    const [key, sentAtMs] = sourceOf(outcome);
    if (sentAtMs < (this.#newest.get(key) ?? -Infinity)) return [];
    this.#newest.set(key, sentAtMs);
    return [outcome];
  }

  /** How much is remembered: of so many sources. */
  get size(): number {
    return this.#newest.size + this.#statuses.size;
  }

  /** Forgets all about servers that are none of these, and sources that these cannot all have. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#statuses.keys()) if (!names.has(name)) this.#statuses.delete(name);
    for (const key of this.#newest.keys()) {
      const [, name = ""] = key.split(" ");
      if (name !== "" && !names.has(name)) this.#newest.delete(key);
    }
    if (this.#newest.size > sourcesMax * names.size) this.#newest.clear();
  }

  /**
   * Readings differ from each other, so one that is dropped wrongly is never told again: their revisions count before
   * times, which are the earliest possible ones. That one upstream cannot read makes no reading of another one older.
   */
  #takeDcs(outcome: DcsOutcome): readonly ProbeOutcome[] {
    const { result, sentAtMs } = outcome;
    if ("failure" in result) return [outcome];
    const { read } = result;
    const known = this.#dcs;
    const isLater = known?.read.source === read.source && read.revision >= known.read.revision;
    if (known !== null && sentAtMs < known.sentAtMs && !isLater) return [];
    this.#dcs = { read, sentAtMs };
    return [outcome];
  }

  #takeStatus(outcome: StatusOutcome): readonly ProbeOutcome[] {
    const { node, sentAtMs, result } = outcome;
    const known = this.#statuses.get(node) ?? { answeredAtMs: -Infinity, failures: [] };
    this.#statuses.set(node, known);
    if (sentAtMs < known.answeredAtMs) return [];
    if ("failure" in result) {
      known.failures = [...known.failures, outcome]
        .toSorted((one, other) => one.sentAtMs - other.sentAtMs)
        .slice(-failuresMax);
      return [outcome];
    }
    known.answeredAtMs = sentAtMs;
    known.failures = known.failures.filter((failed) => failed.sentAtMs > sentAtMs);
    return [outcome, ...known.failures];
  }
}

/** What an outcome is about, and when it was asked for. A document and the failure to get it are the same. */
function sourceOf(
  outcome: Exclude<ProbeOutcome, StatusOutcome | DcsOutcome | DrainOutcome>,
): readonly [string, number] {
  switch (outcome.kind) {
    case "document": {
      const { name, served } = outcome.answer;
      return [`document ${served.source} ${name}`, served.sentAtMs];
    }
    case "view_failure":
      return [`document ${outcome.node} cluster`, outcome.sentAtMs];
    case "liveness":
      return [`liveness ${outcome.node}`, outcome.sentAtMs];
    case "exporter":
      return [`exporter ${outcome.node} ${outcome.result.endpoint}`, outcome.sentAtMs];
    case "companion":
      return [`companion ${outcome.node} ${outcome.companion}`, outcome.sentAtMs];
  }
}
