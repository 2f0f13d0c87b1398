import { clusterNamed } from "../cluster/lookup.ts";
import type { ProbeOutcome } from "../cluster/outcome.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import type { Logger } from "./logger.ts";
import { DocumentFailures, type DocumentFailure } from "./document-failures.ts";
import type { ProbersContext } from "../probe/probers.ts";

/** What probes tell, on its way to who takes it in. */
export interface DocumentFailureContext extends Pick<ProbersContext, "record" | "onProbeFinished" | "now"> {
  readonly snapshot: () => Snapshot;
}

/** Listens in on what probes tell, and writes one line into the log for each episode in which a cluster's document is not to be had. */
export function logDocumentFailures(
  wires: DocumentFailureContext,
  log: Logger,
): Pick<ProbersContext, "record" | "onProbeFinished"> {
  const troubles = new DocumentFailures();
  const unsent = new UnsentLog(wires.now, log);
  return {
    record: (outcome: ProbeOutcome) => {
      const cluster = clusterNamed(wires.snapshot(), outcome.cluster);
      if (outcome.kind === "document" && cluster !== undefined)
        tell(troubles.heard(outcome, cluster, wires.now()), log);
      wires.record(outcome);
    },
    onProbeFinished: (result) => {
      if (result.outcome === "not_sent") unsent.count(result.cluster);
      tell(troubles.asked(result, wires.now()), log);
      wires.onProbeFinished(result);
    },
  };
}

/** How often a lack of our own is logged, in ms: while it lasts, every probe meets it. */
const unsentEveryMs = 10_000;

/** Logs probes that this machine could not send, with how many since the last line. */
class UnsentLog {
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
    if (nowMs - this.#loggedAtMs < unsentEveryMs) return;
    this.#log.error(
      { cluster, count: this.#count },
      "probes not sent: this machine lacks descriptors, ports or memory",
    );
    this.#loggedAtMs = nowMs;
    this.#count = 0;
  }
}

function tell(trouble: DocumentFailure | null, log: Logger): void {
  if (trouble === null) return;
  const { kind, ...fields } = trouble;
  log.warn(
    fields,
    kind === "failed" ? "document of the cluster not had" : "cluster document of another scope left out",
  );
}
