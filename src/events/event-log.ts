import { nodeNamed } from "../cluster/lookup.ts";
import type { ProbeOutcome, Recorded } from "../cluster/outcome.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import { withholdsPassword } from "../health/evidence/node-password.ts";
import type { LoggedChange } from "../health/explain/summary.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { AccusationHistory, type Accused } from "./accusation-history.ts";
import { LeaderDisputes } from "./leader-disputes.ts";
import type { Logger } from "./log/logger.ts";
import { OutcomeRecorder } from "./outcome-recorder.ts";
import { VerdictChanges, type ChangeContext, type VerdictChange } from "./verdict-changes.ts";
import { VerdictHistory } from "./verdict-history.ts";

/** Where what happened is kept beyond the memory of this process. No method waits or throws. */
export interface HistorySink {
  /** @param atMs when it was recorded, in ms of our clock. @param atWallMs the same in ms since the epoch */
  addOutcome(outcome: ProbeOutcome, atMs: number, atWallMs: number): void;
  addChange(change: VerdictChange, atWallMs: number): void;
  /** Adds which nodes of a cluster are accused of being detached or stalled from now on. */
  addAccused(cluster: string, accused: Accused, atWallMs: number): void;
}

/** What the event log depends on. */
export interface EventLogContext {
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "disputed">;
  /** Wall time in ms since the epoch. */
  readonly clock: { wall(): number };
  /** Where everything is kept beyond the memory of this process. */
  readonly history: HistorySink;
}

/**
 * What happened, for people: one log line per change, the last changes of every node, and the evidence of the last
 * minutes.
 */
export class EventLog {
  readonly #context: EventLogContext;
  readonly #changes = new VerdictChanges();
  readonly #disputes = new LeaderDisputes();
  readonly #verdicts = new VerdictHistory();
  readonly #recorder = new OutcomeRecorder();
  readonly #accusations = new AccusationHistory();

  constructor(context: EventLogContext) {
    this.#context = context;
  }

  /** Keeps an outcome as evidence. @param nowMs when it was recorded, in ms of our clock */
  recordOutcome(outcome: ProbeOutcome, nowMs: number): void {
    const { clock, history } = this.#context;
    const wallMs = clock.wall();
    this.#recorder.add(outcome, nowMs, wallMs);
    history.addOutcome(outcome, nowMs, wallMs);
  }

  /** Logs and keeps what changed from one state of a cluster to the next. To be called for every change. */
  recordTransition(before: ClusterState, after: ClusterState, context: ChangeContext): void {
    const { log, metrics, clock, history } = this.#context;
    const accused = this.#accusations.add(before, after, clock.wall());
    if (accused !== null) history.addAccused(after.name, accused, clock.wall());
    for (const change of this.#changes.find(before, after, context)) {
      logVerdictChange(log, change);
      this.#verdicts.add(change, clock.wall());
      history.addChange(change, clock.wall());
    }
    this.#warnOfWithheldPassword(before, after, context.policy);
    const dispute = this.#disputes.find(after, context);
    if (dispute === null) return;
    metrics.disputed(dispute.cluster);
    log.warn(dispute, "more than one node claims the lock, or one that the cluster does not confirm");
  }

  /** The last changes of a node, oldest first. */
  changes(cluster: string, node: string): readonly LoggedChange[] {
    return this.#verdicts.of(cluster, node);
  }

  /** Puts verdict changes of an earlier process before those of this one. @param changes oldest first */
  restoreChanges(changes: Parameters<VerdictHistory["restore"]>[0]): void {
    this.#verdicts.restore(changes);
  }

  /** The wall-clock time since which all evidence is in memory; Infinity if there is none. */
  get evidenceSinceMs(): number {
    return this.#recorder.sinceWallMs;
  }

  /** What was recorded of a cluster between two wall-clock times, oldest first. */
  recorded(cluster: string, fromWallMs: number, toWallMs: number): readonly Recorded[] {
    return this.#recorder.between(cluster, fromWallMs, toWallMs);
  }

  /** Which nodes were accused of being detached or stalled at a wall-clock time. */
  accused(cluster: string, wallMs: number): Accused {
    return this.#accusations.at(cluster, wallMs);
  }

  #warnOfWithheldPassword(before: ClusterState, after: ClusterState, policy: HealthPolicy): void {
    if (policy.clearPasswordFor === undefined) return;
    for (const { node } of after.nodes) {
      const isNew = nodeNamed(before, node.name)?.node.api !== node.api;
      if (!isNew || !withholdsPassword(node, policy)) continue;
      this.#context.log.warn(
        { cluster: after.name, node: node.name, api: node.api },
        "node password withheld: the address is not https",
      );
    }
  }
}

/** Logs one change of role, verdict or reachability. */
function logVerdictChange(log: Logger, { cluster, node, before, after, failure }: VerdictChange): void {
  const fields = {
    cluster,
    node,
    ...after,
    ...(before === null ? {} : { before }),
    ...(after.isReachable || failure === null ? {} : { failure }),
  };
  if (before === null) log.info(fields, "node seen");
  else if (before.isReachable !== after.isReachable)
    log.warn(fields, after.isReachable ? "node answers again" : "node does not answer");
  else log.info(fields, before.role === after.role ? "verdict changed" : "role changed");
}
