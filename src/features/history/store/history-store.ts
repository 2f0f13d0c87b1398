import type { ProbeOutcome } from "../../../core/cluster/outcome.ts";
import type { ClusterState, Snapshot } from "../../../core/cluster/snapshot.ts";
import type { HistoryDirectoryConfig } from "../config/history-schema.ts";
import { type Accused, accusedOf } from "../../../core/events/accusation-history.ts";
import type { ClusterEvent } from "../../../core/events/cluster-event.ts";
import { incidentSubject } from "../../../core/events/incident/incident-subject.ts";
import {
  noPast,
  type Past,
  type PastTime,
  type ReadingContext,
  type StoredChange,
  type StoredEvents,
  type StoredEventsQuery,
  type StoredEvidence,
} from "../../../core/events/stored/past.ts";
import type { Logger } from "../../../core/log/logger.ts";
import type { HealthPolicy } from "../../../core/health/health-policy.ts";
import type { VerdictChange } from "../../../core/events/verdict-changes.ts";
import {
  accusedLine,
  eventLine,
  lagLine,
  type LagMinute,
  outcomeLine,
  startLine,
  subjectLine,
  verdictLine,
} from "./history-lines.ts";
import type { LagSteps } from "../../../core/events/stored/lag-steps.ts";
import { HistoryReader } from "./history-reader.ts";
import { HistoryWriter } from "./history-writer.ts";
import type { Node } from "../../../core/cluster/node.ts";

/** What the history depends on. */
export interface HistoryStoreContext {
  readonly log: Logger;
  readonly now: () => number;
  readonly wall: () => number;
  /** The present state, which each evidence file begins with. */
  readonly snapshot: () => Snapshot;
  /** The policy of a cluster; `undefined` if it is not monitored. */
  readonly policy: (cluster: string) => HealthPolicy | undefined;
}

/** More files than a history has: those with damaged lines are logged once each. */
const filesMax = 1_000;

/** What the history on disk does. */
export interface HistoryUsage {
  readonly isWriting: boolean;
  /** Lines that were dropped because they could not be written in time. */
  readonly dropped: number;
}

/**
 * The history on disk: events, verdict changes and evidence, so that they outlive a restart. Without a configured
 * directory every method does nothing, and no file is touched.
 */
export class HistoryStore implements Past {
  readonly #context: HistoryStoreContext;
  readonly #damaged = new Set<string>();
  readonly #subjects = new SubjectChanges();
  #config: HistoryDirectoryConfig | null = null;
  #writer: HistoryWriter | null = null;
  #reader: HistoryReader | null = null;
  #droppedBefore = 0;

  constructor(context: HistoryStoreContext) {
    this.#context = context;
  }

  get directory(): string | null {
    return this.#config?.directory ?? null;
  }

  /** What the metrics show; `null` if nothing is kept. */
  get usage(): HistoryUsage | null {
    if (this.#writer === null) return null;
    return { isWriting: this.#writer.isWriting, dropped: this.#droppedBefore + this.#writer.dropped };
  }

  /** Uses the directory of a configuration from now on. Does nothing if it is the same as before. */
  async configure(config: HistoryDirectoryConfig | null): Promise<void> {
    if (isSame(config, this.#config)) return;
    const previous = this.#writer;
    this.#config = config;
    this.#droppedBefore += previous?.dropped ?? 0;
    this.#writer = null;
    this.#reader =
      config === null ? null : new HistoryReader(config.directory, (path, lines) => this.#onDamaged(path, lines));
    await previous?.close();
    if (config === null || config !== this.#config) return;
    const { log, wall } = this.#context;
    this.#writer = new HistoryWriter(config, {
      log,
      wall,
      evidenceHead: (atMs) => this.#head(atMs),
    });
  }

  addEvent(event: ClusterEvent): void {
    const atMs = Math.max(event.at, this.#context.wall());
    this.#writer?.add("events", eventLine(event, atMs), atMs);
  }

  addChange({ cluster, node, before, after, failure }: VerdictChange, atWallMs: number): void {
    this.#writer?.add("events", verdictLine({ cluster, node, before, after, failure, atWallMs }), atWallMs);
  }

  addOutcome(outcome: ProbeOutcome, atMs: number, atWallMs: number): void {
    this.#writer?.add("evidence", outcomeLine(outcome, { atMs, atWallMs }, "outcome"), atWallMs);
  }

  addAccused(cluster: string, accused: Accused, atWallMs: number): void {
    this.#writer?.add("evidence", accusedLine(cluster, accused, atWallMs), atWallMs);
  }

  addSubject(cluster: ClusterState, policy: HealthPolicy, atWallMs: number): void {
    if (this.#writer === null || !this.#subjects.recordIfChanged(cluster, policy)) return;
    this.#writer.add("evidence", subjectLine(incidentSubject(cluster, policy), atWallMs), atWallMs);
  }

  /** Adds a minute of a cluster that is over. */
  addLag(minute: LagMinute): void {
    this.#writer?.add("lag", lagLine(minute), minute.atWallMs);
  }

  /** The events and verdict changes at the end of the history, oldest first. */
  readRecent(): Promise<{ readonly events: readonly ClusterEvent[]; readonly changes: readonly StoredChange[] }> {
    return this.#reader?.readRecent() ?? noPast.readRecent();
  }

  /** The newest events of a time. */
  readEvents(query: StoredEventsQuery, context?: ReadingContext): Promise<StoredEvents> {
    return this.#reader?.readEvents(query, context) ?? noPast.readEvents(query);
  }

  /** The evidence of a cluster between two wall-clock times. What is farthest from `aroundWallMs` is left out first. */
  readEvidence(time: PastTime, context?: ReadingContext): Promise<StoredEvidence> {
    const { now, wall, snapshot } = this.#context;
    const query = { ...time, run: snapshot().instance, wallOffsetMs: wall() - now() };
    return this.#reader?.readEvidence(query, context) ?? noPast.readEvidence(time);
  }

  /** Adds the stored lag of a cluster to `steps`. @returns whether all of it was read */
  async readLag(cluster: string, steps: LagSteps, context?: ReadingContext): Promise<boolean> {
    return (await this.#reader?.readLag(cluster, steps, context)) ?? true;
  }

  /** When the oldest evidence was recorded, in ms since the epoch; `null` if there is none. */
  async oldestEvidenceMs(context?: ReadingContext): Promise<number | null> {
    return (await this.#reader?.oldestEvidenceMs(context)) ?? null;
  }

  /** Writes what waits, for at most two seconds. */
  async stop(): Promise<void> {
    await this.configure(null);
  }

  /** What holds at the beginning of an evidence file: the clock, the clusters, the accusations and the drains. */
  #head(atWallMs: number): readonly string[] {
    const { now, wall, snapshot, policy } = this.#context;
    const atMs = now() + atWallMs - wall();
    const { instance, clusters } = snapshot();
    return [
      startLine(atWallMs, instance, atMs),
      ...clusters.flatMap((cluster) => {
        const accused = accusedOf(cluster);
        const settings = policy(cluster.name);
        const drains = [...cluster.drains].filter(([, { untilMs }]) => untilMs > atMs);
        return [
          ...(settings === undefined ? [] : [subjectLine(incidentSubject(cluster, settings), atWallMs)]),
          ...(accused.size === 0 ? [] : [accusedLine(cluster.name, accused, atWallMs)]),
          ...drains.map(([node, drain]) =>
            outcomeLine({ kind: "drain", cluster: cluster.name, node, drain }, { atMs, atWallMs }, "held"),
          ),
        ];
      }),
    ];
  }

  #onDamaged(file: string, lines: number): void {
    if (this.#damaged.has(file) || this.#damaged.size >= filesMax) return;
    this.#damaged.add(file);
    this.#context.log.warn({ file, lines }, "damaged lines of a history file left out");
  }
}

function isSame(one: HistoryDirectoryConfig | null, other: HistoryDirectoryConfig | null): boolean {
  return (
    one === other ||
    (one !== null &&
      other !== null &&
      one.directory === other.directory &&
      one.sizeMax === other.sizeMax &&
      one.ageMaxMs === other.ageMaxMs)
  );
}

/** What was last written about a cluster. */
interface WrittenSubject {
  readonly scope: string | null;
  readonly nodes: readonly Node[];
  readonly policy: HealthPolicy;
}

/** Detects changes of a cluster's nodes, their addresses and its settings, which an incident file states. */
class SubjectChanges {
  readonly #written = new Map<string, WrittenSubject>();

  /** Records the state of a cluster if it differs from the recorded one of that name. @returns whether it differs */
  recordIfChanged({ name, scope, nodes }: ClusterState, policy: HealthPolicy): boolean {
    const last = this.#written.get(name);
    // Probes replace the states of nodes, and keep the nodes themselves.
    const isKnown =
      last?.scope === scope &&
      last.policy === policy &&
      last.nodes.length === nodes.length &&
      nodes.every(({ node }, at) => node === last.nodes[at]);
    if (!isKnown) this.#written.set(name, { scope, nodes: nodes.map(({ node }) => node), policy });
    return !isKnown;
  }
}
