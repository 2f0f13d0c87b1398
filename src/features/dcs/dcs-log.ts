import type { DcsResult } from "../../core/cluster/dcs.ts";
import type { Logger } from "../../core/log/logger.ts";

/** At most one line about watches that end in this time, in ms: they are opened again at once. */
const watchEndIntervalMs = 60_000;

/** Logs what the watches of the DCS find, and why they end. */
export class DcsLog {
  readonly #log: Logger;
  readonly #now: () => number;
  /** When the last watch that ended was logged, by cluster. */
  readonly #loggedMs = new Map<string, number>();

  /** @param now in ms of rolecall's clock */
  constructor(log: Logger, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  /** Logs a read that differs from the last one. Failures are events. */
  logResult(cluster: string, result: DcsResult): void {
    if ("failure" in result) return;
    const { leader, revision, source, hasScope } = result.read;
    if (hasScope) this.#log.info({ cluster, leader, revision }, "leader key in the DCS read");
    else this.#log.warn({ cluster, source }, "the DCS has no key of the scope: check dcs.prefix and the scope");
  }

  /** Logs that a watch ended. */
  logWatchEnd(cluster: string, { cause, detail }: { readonly cause: string; readonly detail: string }): void {
    const nowMs = this.#now();
    if (nowMs - (this.#loggedMs.get(cluster) ?? -Infinity) < watchEndIntervalMs) return;
    this.#loggedMs.set(cluster, nowMs);
    this.#log.warn({ cluster, cause, detail }, "watch of the DCS ended: opening another one");
  }

  /** Logs that the files for the DCS were read, or could not be. */
  logFiles(cluster: string, problem: string | null): void {
    this.#log[problem === null ? "info" : "error"]({ cluster, problem }, "files for the DCS read");
  }
}
