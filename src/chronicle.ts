import type { Clock } from "./clock.ts";
import type { Outcome, Recorded } from "./cluster/outcome.ts";
import type { ClusterPart } from "./cluster/snapshot.ts";
import { withholdsPassword } from "./health/node-password.ts";
import type { Settings } from "./health/settings.ts";
import type { LoggedChange } from "./health/summary.ts";
import { logChange, type Logger } from "./log.ts";
import { Accusations, type Accused } from "./metrics/accusations.ts";
import { Changes } from "./metrics/changes.ts";
import { Disputes } from "./metrics/disputes.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { Recorder } from "./metrics/recorder.ts";
import { VerdictLog } from "./metrics/verdict-log.ts";

/** What the chronicle is written with. */
export interface ChronicleWires {
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "disputed">;
  readonly clock: Pick<Clock, "wall">;
}

/** What happened, for people: one log line a change, the last changes of every node, and the evidence of the last minutes. */
export class Chronicle {
  readonly #wires: ChronicleWires;
  readonly #changes = new Changes();
  readonly #disputes = new Disputes();
  readonly #verdicts = new VerdictLog();
  readonly #recorder = new Recorder();
  readonly #accusations = new Accusations();

  constructor(wires: ChronicleWires) {
    this.#wires = wires;
  }

  /** Keeps an outcome as evidence. */
  heard(outcome: Outcome, nowMs: number): void {
    this.#recorder.take(outcome, nowMs, this.#wires.clock.wall());
  }

  /** To be told of every new part: tells what changed with it. */
  changed(before: ClusterPart, after: ClusterPart, settled: { readonly settings: Settings; readonly nowMs: number }): void {
    const { log, metrics, clock } = this.#wires;
    this.#accusations.take(before, after, clock.wall());
    for (const change of this.#changes.take(before, after, settled)) {
      logChange(log, change);
      this.#verdicts.add(change, clock.wall());
    }
    this.#warnOfWithheldPassword(before, after, settled.settings);
    const dispute = this.#disputes.take(after, settled);
    if (dispute === null) return;
    metrics.disputed(dispute.cluster);
    log.warn(dispute, "more than one node claims the lock, or one that the cluster does not confirm");
  }

  #warnOfWithheldPassword(before: ClusterPart, after: ClusterPart, settings: Settings): void {
    if (settings.clearPasswordFor === undefined) return;
    for (const { node } of after.nodes) {
      const isNew = before.nodes[before.index.get(node.name) ?? -1]?.node.api !== node.api;
      if (!isNew || !withholdsPassword(node, settings)) continue;
      this.#wires.log.warn({ cluster: after.name, node: node.name, api: node.api }, "node password withheld: the address is not https");
    }
  }

  /** The last changes of a node, oldest first. */
  changes(cluster: string, node: string): readonly LoggedChange[] {
    return this.#verdicts.of(cluster, node);
  }

  /** What was heard of a cluster between two wall-clock instants, oldest first. */
  recorded(cluster: string, fromWallMs: number, toWallMs: number): readonly Recorded[] {
    return this.#recorder.between(cluster, fromWallMs, toWallMs);
  }

  /** Who was accused of being detached or stalled at a wall-clock instant. */
  accused(cluster: string, wallMs: number): Accused {
    return this.#accusations.at(cluster, wallMs);
  }
}
