import { nodeNamed } from "../cluster/lookup.ts";
import type { ProbeOutcome, Recorded } from "../cluster/outcome.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import { withholdsPassword } from "../health/evidence/node-password.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import type { LoggedChange } from "../health/explain/summary.ts";
import { logChange, type Logger } from "./logger.ts";
import { Accusations, type Accused } from "./accusations.ts";
import { VerdictChanges } from "./verdict-changes.ts";
import { LeaderDisputes } from "./leader-disputes.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { OutcomeRecorder } from "./outcome-recorder.ts";
import { VerdictLog } from "./verdict-log.ts";

/** What the chronicle is written with. */
export interface EventLogContext {
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "disputed">;
  /** Wall-clock time in ms since the epoch. */
  readonly clock: { wall(): number };
}

/** What happened, for people: one log line a change, the last changes of every node, and the evidence of the last minutes. */
export class EventLog {
  readonly #wires: EventLogContext;
  readonly #changes = new VerdictChanges();
  readonly #disputes = new LeaderDisputes();
  readonly #verdicts = new VerdictLog();
  readonly #recorder = new OutcomeRecorder();
  readonly #accusations = new Accusations();

  constructor(wires: EventLogContext) {
    this.#wires = wires;
  }

  /** Keeps an outcome as evidence. */
  recordOutcome(outcome: ProbeOutcome, nowMs: number): void {
    this.#recorder.take(outcome, nowMs, this.#wires.clock.wall());
  }

  /** To be told of every new part: tells what changed with it. */
  recordTransition(
    before: ClusterState,
    after: ClusterState,
    settled: { readonly policy: HealthPolicy; readonly nowMs: number },
  ): void {
    const { log, metrics, clock } = this.#wires;
    this.#accusations.take(before, after, clock.wall());
    for (const change of this.#changes.take(before, after, settled)) {
      logChange(log, change);
      this.#verdicts.add(change, clock.wall());
    }
    this.#warnOfWithheldPassword(before, after, settled.policy);
    const dispute = this.#disputes.take(after, settled);
    if (dispute === null) return;
    metrics.disputed(dispute.cluster);
    log.warn(dispute, "more than one node claims the lock, or one that the cluster does not confirm");
  }

  #warnOfWithheldPassword(before: ClusterState, after: ClusterState, policy: HealthPolicy): void {
    if (policy.clearPasswordFor === undefined) return;
    for (const { node } of after.nodes) {
      const isNew = nodeNamed(before, node.name)?.node.api !== node.api;
      if (!isNew || !withholdsPassword(node, policy)) continue;
      this.#wires.log.warn(
        { cluster: after.name, node: node.name, api: node.api },
        "node password withheld: the address is not https",
      );
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
