import type { DrainChange } from "../cluster/drain.ts";
import { nodeNamed } from "../cluster/lookup.ts";
import type { CalledChange } from "../cluster/management-call.ts";
import type { ProbeOutcome, Recorded } from "../cluster/outcome.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import { withholdsPassword } from "../health/evidence/node/node-password.ts";
import type { LoggedChange, TimedSummary } from "../health/rules/summary.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import { AccusationHistory, type Accused } from "./accusation-history.ts";
import type { ClusterEvent, EventDraft } from "./cluster-event.ts";
import { calledEvent, drainAudit, drainEvent, latenessEvent, startedEvent, stoppedEvent } from "./announced-events.ts";
import { logEvent, logVerdictChange, verdictFields } from "./event-lines.ts";
import { EventStream } from "./event-stream.ts";
import { LeaderDisputes } from "./leader-disputes.ts";
import { LeftOutLog } from "./left-out-log.ts";
import type { Logger } from "../log/logger.ts";
import { OutcomeRecorder } from "./outcome-recorder.ts";
import { type ChangeContext, type VerdictChange, VerdictChanges } from "./verdict-changes.ts";
import { VerdictHistory } from "./verdict-history.ts";

/** Where what happened is kept beyond the memory of this process. No method waits or throws. */
export interface HistorySink {
  /** @param atMs when it was recorded, in ms of rolecall's clock. @param atWallMs the same in ms since the epoch */
  addOutcome(outcome: ProbeOutcome, atMs: number, atWallMs: number): void;
  addChange(change: VerdictChange, atWallMs: number): void;
  /** Adds which nodes of a cluster are accused of being detached or stalled from now on. */
  addAccused(cluster: string, accused: Accused, atWallMs: number): void;
  /** Adds what an incident file states about a cluster from now on. Cheap if that has not changed. */
  addSubject(cluster: ClusterState, policy: HealthPolicy, atWallMs: number): void;
}

/** What events are found with. */
export interface FinderContext extends ChangeContext {
  /** Whether a verdict of one of the nodes changed since the last state. */
  readonly isVerdictChanged: boolean;
}

/** Finds the events of clusters from one state to the next. */
export interface EventFinder {
  /** @param summaries the last summary of each node that was judged */
  find(
    cluster: ClusterState,
    summaries: ReadonlyMap<string, TimedSummary>,
    context: FinderContext,
  ): readonly EventDraft[];
  /**
   * Takes over the last events of an earlier process, so that what lasts is not reported again, and its end is.
   * @param events oldest first
   * @param clock the present instant, in ms of rolecall's clock and in ms since the epoch
   */
  resume(events: readonly ClusterEvent[], clock: { readonly nowMs: number; readonly wallMs: number }): void;
  /**
   * The first round of a cluster's probes has ended. A cluster has no events before.
   * @param nowMs in ms of rolecall's clock
   */
  endFirstRound(cluster: string, nowMs: number): void;
  /**
   * A call that changes the primary of a cluster is forwarded: being without one for a moment is no trouble then.
   * @param nowMs in ms of rolecall's clock; `null`: the call came to nothing
   */
  announce(cluster: string, nowMs: number | null): void;
  /** How many events of a cluster have begun and not ended. */
  openCount(cluster: string): number;
  /** Forgets all other clusters. */
  retain(clusters: readonly string[]): void;
}

/** Counts what happens in clusters. */
interface EventCounter {
  /** Counts an episode in which it is undecided who leads. */
  disputed(cluster: string): void;
  /** `cluster` is `null` for an event of rolecall itself. */
  happened(event: { readonly cluster: string | null; readonly kind: string }): void;
}

/** What the event log depends on. */
export interface EventLogContext {
  readonly log: Logger;
  readonly metrics: EventCounter;
  readonly detector: EventFinder;
  readonly clock: {
    /** In ms of rolecall's clock. */
    now(): number;
    /** In ms since the epoch. */
    wall(): number;
  };
  /** Where everything is kept beyond the memory of this process. */
  /** Where the past is kept, now. */
  readonly history: () => HistorySink;
}

/**
 * What happened, for people: the events, one log line per event or change, the last changes of every node, and the
 * evidence of the last minutes.
 */
export class EventLog {
  /** The events of all clusters. */
  readonly events: EventStream;
  readonly #context: EventLogContext;
  /** By cluster: one that a reload removes is forgotten. */
  readonly #changes = new Map<string, VerdictChanges>();
  readonly #disputes = new LeaderDisputes();
  readonly #verdicts = new VerdictHistory();
  readonly #recorder = new OutcomeRecorder();
  readonly #accusations = new AccusationHistory();
  readonly #leftOut: LeftOutLog;

  constructor(context: EventLogContext) {
    const { clock, log, metrics, detector } = context;
    this.#context = context;
    this.#leftOut = new LeftOutLog(log);
    this.events = new EventStream(clock.wall(), {
      clock,
      onOmitted: ({ kind, cluster }) =>
        log.warn({ cluster, event: kind }, "events left out: too many of this kind in a short time"),
      onRestored: (events) => detector.resume(events, { nowMs: clock.now(), wallMs: clock.wall() }),
    });
    this.events.subscribe((event) => metrics.happened(event));
  }

  /** Keeps an outcome as evidence. @param nowMs when it was recorded, in ms of rolecall's clock */
  recordOutcome(outcome: ProbeOutcome, nowMs: number): void {
    const { clock, history } = this.#context;
    const wallMs = clock.wall();
    this.#recorder.add(outcome, nowMs, wallMs);
    history().addOutcome(outcome, nowMs, wallMs);
  }

  /**
   * Logs and keeps what changed from one state of a cluster to the next, and publishes the events. To be called for
   * every change. A change of a node that an event is about has no log line of its own.
   */
  recordTransition(before: ClusterState, after: ClusterState, context: ChangeContext): void {
    const { metrics, clock, log, detector, history } = this.#context;
    const wallMs = clock.wall();
    history().addSubject(after, context.policy, wallMs);
    const accused = this.#accusations.add(before, after, wallMs);
    if (accused !== null) history().addAccused(after.name, accused, wallMs);
    const finder = this.#changesOf(after.name);
    const changes = finder.find(before, after, context);
    for (const change of changes) {
      this.#verdicts.add(change, wallMs);
      history().addChange(change, wallMs);
    }
    const { policy, nowMs } = context;
    const finderContext = { policy, nowMs, isVerdictChanged: changes.length > 0 };
    const drafts = detector.find(after, finder.summaries(after.name), finderContext);
    for (const change of changes) if (!drafts.some(({ node }) => node === change.node)) logVerdictChange(log, change);
    // Of several events about a node the first one has its verdicts.
    for (const draft of drafts) {
      const isFirst = drafts.find(({ node }) => node === draft.node) === draft;
      this.#publish(draft, isFirst ? fieldsOf(changes, draft.node) : {});
    }
    this.#warnOfWithheldPassword(before, after, context.policy);
    this.#leftOut.record(before, after, context.policy);
    const dispute = this.#disputes.find(after, context);
    if (dispute !== null) metrics.disputed(dispute.cluster);
  }

  /** The first round of a cluster's probes has ended: events of the cluster are published from now on. */
  endFirstRound(cluster: string): void {
    this.#context.detector.endFirstRound(cluster, this.#context.clock.now());
  }

  /**
   * Publishes and logs that a call which changes the primary of a cluster is forwarded.
   * @returns what says that it came to nothing
   */
  recordCall(change: CalledChange): () => void {
    const { detector, clock } = this.#context;
    detector.announce(change.cluster, clock.now());
    this.#publish(calledEvent(change), {});
    return () => detector.announce(change.cluster, null);
  }

  /** Publishes and logs that a drain begins or ends. */
  recordDrain(change: DrainChange): void {
    const draft = drainEvent(change);
    const event = this.events.publish(draft);
    logEvent(this.#context.log, event ?? draft, drainAudit(change));
  }

  /** Publishes and logs what a feature has found or done. @param fields what the log says in addition */
  record(draft: EventDraft, fields: object): void {
    logEvent(this.#context.log, this.events.publish(draft) ?? draft, fields);
  }

  /** Publishes and logs that this process begins to monitor clusters. @param version that of rolecall */
  recordStart(clusters: readonly string[], version: string): void {
    this.#publish(startedEvent({ clusters, version }, this.events.recent()), {});
  }

  /** Publishes and logs that this process stops to monitor clusters. @param version that of rolecall */
  recordStop(clusters: readonly string[], version: string): void {
    this.#publish(stoppedEvent({ clusters, version }), {});
  }

  /** Publishes and logs that this process is late, or on time again. @param lateForMs see {@link latenessEvent} */
  recordLateness(lateForMs: number | null): void {
    this.#publish(latenessEvent(lateForMs), {});
  }

  /** Publishes an event of the process itself. It has a log line of its own. */
  recordProcess(draft: EventDraft): void {
    this.events.publish(draft);
  }

  /** How many events of a cluster have begun and not ended: nodes that are down, for example. */
  openCount(cluster: string): number {
    return this.#context.detector.openCount(cluster);
  }

  /** Forgets all other clusters: those that a reload removed. */
  retain(clusters: readonly string[]): void {
    for (const part of [this.#context.detector, this.#accusations]) part.retain(clusters);
    for (const name of this.#changes.keys()) if (!clusters.includes(name)) this.#changes.delete(name);
  }

  #changesOf(cluster: string): VerdictChanges {
    const known = this.#changes.get(cluster) ?? new VerdictChanges();
    this.#changes.set(cluster, known);
    return known;
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

  #publish(draft: EventDraft, fields: object): void {
    const event = this.events.publish(draft);
    if (event !== null) logEvent(this.#context.log, event, fields);
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

/** The verdicts of a node that changed together with an event about it, as fields of the event's log line. */
function fieldsOf(changes: readonly VerdictChange[], node: string | null): object {
  const change = changes.find((candidate) => candidate.node === node);
  return change === undefined ? {} : verdictFields(change);
}
