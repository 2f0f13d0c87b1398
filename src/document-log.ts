import type { Outcome } from "./cluster/outcome.ts";
import type { Snapshot } from "./cluster/snapshot.ts";
import type { Logger } from "./log.ts";
import { DocumentTroubles, type DocumentTrouble } from "./metrics/document-troubles.ts";
import type { ProbersContext } from "./probe/probers.ts";

/** What probes tell, on its way to who takes it in. */
export interface DocumentLogWires extends Pick<ProbersContext, "record" | "onAsked" | "now"> {
  readonly snapshot: () => Snapshot;
}

/** Listens in on what probes tell, and writes one line into the log for each episode in which a cluster's document is not to be had. */
export function withDocumentLog(wires: DocumentLogWires, log: Logger): Pick<ProbersContext, "record" | "onAsked"> {
  const troubles = new DocumentTroubles();
  const unsent = new UnsentLog(wires.now, log);
  return {
    record: (outcome: Outcome) => {
      const { parts, index } = wires.snapshot();
      const part = parts[index.get(outcome.cluster) ?? -1];
      if (outcome.kind === "document" && part !== undefined) tell(troubles.heard(outcome, part, wires.now()), log);
      wires.record(outcome);
    },
    onAsked: (asked) => {
      if (asked.outcome === "not_sent") unsent.count(asked.cluster);
      tell(troubles.asked(asked, wires.now()), log);
      wires.onAsked(asked);
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
    this.#log.error({ cluster, count: this.#count }, "probes not sent: this machine lacks descriptors, ports or memory");
    this.#loggedAtMs = nowMs;
    this.#count = 0;
  }
}

function tell(trouble: DocumentTrouble | null, log: Logger): void {
  if (trouble === null) return;
  const { kind, ...fields } = trouble;
  log.warn(fields, kind === "failed" ? "document of the cluster not had" : "cluster document of another scope left out");
}
