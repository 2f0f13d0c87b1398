import type { ProbeOutcome } from "../../core/cluster/outcome.ts";
import type { ClusterState } from "../../core/cluster/snapshot.ts";
import type { ProbersContext } from "../../core/probe/probers.ts";
import { DocumentFailures, type DocumentFailure } from "./document-failures.ts";
import type { Logger } from "../../core/log/logger.ts";

/** Where the results of probes go, and what is needed to judge them. */
export interface DocumentFailureContext extends Pick<ProbersContext, "record" | "onProbeFinished" | "now"> {
  readonly cluster: (name: string) => ClusterState | undefined;
}

/**
 * Wraps the callbacks of probes: writes one log line for each episode in which a document of a cluster cannot be
 * fetched, then calls the wrapped callback.
 */
export function logDocumentFailures(
  context: DocumentFailureContext,
  log: Logger,
): Pick<ProbersContext, "record" | "onProbeFinished"> {
  const failures = new DocumentFailures();
  const unsent = new UnsentProbeLog(context.now, log);
  return {
    record: (outcome: ProbeOutcome) => {
      const cluster = outcome.kind === "document" ? context.cluster(outcome.cluster) : undefined;
      if (outcome.kind === "document" && cluster !== undefined)
        logFailure(failures.checkScope(outcome, cluster, context.now()), log);
      context.record(outcome);
    },
    onProbeFinished: (result) => {
      if (result.outcome === "not_sent") unsent.count(result.cluster);
      logFailure(failures.checkProbe(result, context.now()), log);
      context.onProbeFinished(result);
    },
  };
}

/** At most one line about unsent probes in this time, in ms: while this machine lacks something, every probe fails. */
const unsentIntervalMs = 10_000;

/** Logs probes that this machine could not send, with their number since the last line. */
class UnsentProbeLog {
  readonly #now: () => number;
  readonly #log: Logger;
  #loggedAtMs = -Infinity;
  #count = 0;

  constructor(now: () => number, log: Logger) {
    this.#now = now;
    this.#log = log;
  }

  count(cluster: string): void {
    this.#count += 1;
    const nowMs = this.#now();
    if (nowMs - this.#loggedAtMs < unsentIntervalMs) return;
    this.#log.error(
      { cluster, count: this.#count },
      "probes not sent: this machine lacks descriptors, ports or memory",
    );
    this.#loggedAtMs = nowMs;
    this.#count = 0;
  }
}

function logFailure(failure: DocumentFailure | null, log: Logger): void {
  if (failure === null) return;
  const { kind, ...fields } = failure;
  log.warn(
    fields,
    kind === "failed" ? "failed to fetch a cluster document" : "cluster document of another scope ignored",
  );
}
