import type { Hint, HintEffect } from "../core/cluster/hint.ts";
import { lockHolderOf } from "../core/cluster/leadership.ts";
import type { ProbeOutcome } from "../core/cluster/outcome.ts";
import type { ClusterState } from "../core/cluster/snapshot.ts";
import type { CancelTimer } from "../core/cluster/timer.ts";
import type { Config } from "../core/config/model/config.ts";
import { version } from "../core/config/version.ts";
import { contain } from "./contain.ts";
import { LatenessWatch } from "./lateness-watch.ts";
import { logDocumentFailures } from "./logs/document-failure-log.ts";
import { eventConditions } from "./registry/conditions.ts";
import { EventDetector } from "../core/events/detection/event-detector.ts";
import { EventLog } from "../core/events/event-log.ts";
import { logTlsFiles } from "./logs/certificate-log.ts";
import { LimitedLines } from "../core/log/limited-lines.ts";
import type { HealthPolicy } from "../core/health/health-policy.ts";
import type { Logger } from "../core/log/logger.ts";
import type { Metrics } from "../core/metrics/metrics.ts";
import { noPast, type Past } from "../core/events/stored/past.ts";
import { ConnectedAddresses } from "../core/probe/client/connected-addresses.ts";
import { Probers } from "../core/probe/probers.ts";
import { Clock, type ClockGap } from "../core/state/clock.ts";
import { AddressProofs } from "./address-proofs.ts";
import type { Balancers } from "../core/balancing/balancer.ts";
import type { Host } from "../core/feature/feature.ts";
import type { Offers } from "../core/feature/offer.ts";
import { balancers, evidenceBringers, nodeFinders, nodeProbes, pasts } from "../core/feature/offers.ts";
import type { ToldEvidence } from "../core/feature/shared-evidence.ts";
import type { Features } from "./host/features.ts";
import type { FeaturesContext } from "./host/running-feature.ts";
import { featuresOf } from "./registry/features.ts";
import { type Machine, waitAtMost } from "./machine/machine.ts";
import { buildClusters, reconfigure, restoreClusters } from "../core/state/clusters.ts";
import { Drains } from "../core/state/drains.ts";
import { hasSameSavedState } from "../core/state/saved-state.ts";
import { StateFile } from "../core/state/state-file.ts";
import { Store } from "../core/state/store.ts";
import { EvidenceOrigins } from "./evidence-origins.ts";
import { OperatorDrains } from "./operator-drains.ts";

/** What the monitor depends on. */
export interface MonitorContext {
  readonly log: Logger;
  readonly machine: Machine;
  readonly metrics: Pick<Metrics, "own" | "disputed" | "happened" | "probed">;
  /** What is known of this process beside what it monitors. Nothing if left out. */
  readonly process?: KnownOfProcess;
}

type KnownOfProcess = Pick<Host, "asked" | "loadedConfig" | "backendCounts">;

/** How long the start waits for what features have to read, in ms. */
const openingMaxMs = 5_000;
/** How long the end waits for features to finish what they do, in ms: as long as a switchover takes, and to resume. */
const stoppingMaxMs = 20_000;
/** How long the start waits for the history, in ms. A slow disk must not delay answers. */
const restoringMaxMs = 1_000;

const nothingKnown: KnownOfProcess = {
  asked: {
    checks: () => [],
    nodes: () => ({ nodes: new Map(), nonMembers: [] }),
    limits: () => Promise.resolve([]),
  },
  loadedConfig: () => ({ file: null, loaded_at: new Date(0).toISOString(), refused: null }),
  backendCounts: () => Promise.resolve([]),
};

/**
 * Monitors the clusters: probes write their outcomes into the store; changes are logged and saved. Call `restore` once,
 * then `start`; for another configuration `configure` and `start` again.
 */
export class Monitor {
  readonly store: Store;
  readonly clock: Clock;
  /** Drains as operators ask for them. */
  readonly drains: OperatorDrains;
  readonly eventLog: EventLog;
  readonly features: Features;
  /** What features give each other and the core. */
  readonly offers: Offers;
  /** Tells whether the address of a node is more than another instance's word. */
  readonly proofs: AddressProofs;
  /** Whether this process asks nodes in time. */
  readonly lateness: LatenessWatch;
  readonly #log: Logger;
  readonly #errorLines: LimitedLines;
  readonly #drains: Drains;
  readonly #stateFile: StateFile;
  readonly #probers: Probers;
  readonly #sources: EvidenceOrigins;
  #config: Config;
  /** The last configuration that the features were given. */
  #ofFeatures: Config | null = null;
  readonly #machine: Machine;
  #cancelTick: CancelTimer | null = null;
  /** `closed` is final: a start or a reload that still runs then begins nothing. */
  #phase: "new" | "running" | "closed" = "new";

  constructor(config: Config, context: MonitorContext) {
    const { log, metrics, machine, process: known = nothingKnown } = context;
    this.#config = config;
    this.#log = log;
    this.#errorLines = new LimitedLines(log, { what: "internal errors", level: "error", max: 5, periodMs: 60_000 });
    this.#machine = machine;
    this.store = new Store(machine.newInstanceId(), buildClusters(config, new Map()));
    const { intervalMs: tickIntervalMs } = config.probe;
    this.clock = new Clock({ ...machine.time, tickIntervalMs, onGap: (gap) => this.#onGap(gap) });
    const { store, clock } = this;
    // The monotonic clock does not count a suspend. Code that may be the first to run after one therefore reads the
    // clock with `observe`, which looks for such a gap. Code that runs later in the same step needs only `now`.
    const policy = (name: string): HealthPolicy | undefined => store.policyOf(name);
    const state = (name: string): ClusterState | undefined => store.clusterNamed(name);
    const detector = new EventDetector({
      awaitsFirstRound: true,
      asked: known.asked.checks,
      ofFeatures: (name) => this.features.conditions(name),
      conditions: eventConditions,
    });
    this.eventLog = new EventLog({ log, metrics, clock, detector, history: () => this.past });
    this.#drains = this.#buildDrains();
    const follows = { log, metrics: metrics.own, cluster: state, policy, setTimer: machine.setTimer };
    const probed = new ConnectedAddresses(() => clock.now());
    this.offers = { process: store.current.instance };
    this.features = this.#buildFeatures({ ...follows, ...known }, probed);
    this.proofs = new AddressProofs({ config: () => this.#config, now: () => clock.now() });
    this.#stateFile = this.#buildStateFile();
    this.#probers = this.#buildProbers(metrics, probed);
    nodeProbes.subscribe(this.offers, () => this.#probers.followBrought());
    this.#sources = this.#buildSources();
    this.lateness = this.#buildLateness();
    this.drains = new OperatorDrains({ local: this.#drains, offers: this.offers });
  }

  /** Restores what an earlier run saved. Changes are logged and saved only afterwards: what is restored is not new. */
  async restore(): Promise<void> {
    const saved = await this.#stateFile.read(this.#config.clusters);
    this.store.restore(restoreClusters(this.#config, saved));
    for (const cluster of saved.heard) this.proofs.hear(cluster);
    this.#drains.start(saved.drains);
    this.#followChanges();
    this.eventLog.events.subscribe((event) => this.past.addEvent(event));
    this.#configureFeatures();
    const opened = waitAtMost(this.#machine.setTimer, openingMaxMs, this.features.opened());
    await this.#stateFile.removeStaleDrafts();
    await opened;
    if (this.#phase === "closed") return;
    // If the events of the earlier process are restored in time, conditions that it reported are not reported again.
    await waitAtMost(this.#machine.setTimer, restoringMaxMs, this.#restoreHistory());
  }

  /** Replaces the clusters by those of another configuration. Nodes that keep their address keep their evidence. */
  configure(config: Config): void {
    if (this.#phase === "closed") return;
    this.#config = config;
    this.#sources.configure(config);
    this.lateness.configure(config);
    for (const part of [this.eventLog, this.#probers]) part.retain(config.clusters.map(({ name }) => name));
    reconfigure(this.store, config);
    // What the reload forgot must not come back with a restart.
    void this.#stateFile.write(() => this.store.current);
  }

  /**
   * Starts the probes and features of the configured clusters. Called again, it applies the configuration
   * that is then in force. Resolves after the first round of probes, or one timeout.
   */
  async start(): Promise<void> {
    if (this.#phase === "closed") return;
    if (this.#phase === "new") this.eventLog.recordStart(this.#clusterNames, version());
    this.#phase = "running";
    this.clock.setTickInterval(this.#config.probe.intervalMs);
    this.#tickLater();
    this.#configureFeatures();
    await this.#sources.start();
  }

  /** What keeps the past beyond the memory of this process. */
  get past(): Past {
    return pasts.in(this.offers)[0] ?? noPast;
  }

  /** What is known of each balancer that changes are pushed to. @param only those of this cluster; `null`: all */
  balancers(only: string | null): ReturnType<Balancers["statuses"]> {
    return balancers.in(this.offers).flatMap((one) => one.statuses(only));
  }

  /** Probes every node of one cluster now, so that a change made through rolecall is seen sooner. */
  probeNow(cluster: string): void {
    this.#probers.probeNow(cluster);
  }

  /** Follows a hint. If the leader stops, all nodes are probed: it is not known yet which one leads next. */
  followHint({ cluster, node, event }: Hint): HintEffect {
    if (evidenceBringers.in(this.offers).some((bringer) => bringer.hint(cluster, node))) return "begun";
    if (event !== "stop" && event !== "before_stop") return this.#probers.hint(cluster, node);
    const state = this.store.clusterNamed(cluster);
    const holder = state === undefined ? null : lockHolderOf(state.leadership);
    return holder === null || holder === node ? this.#probers.hint(cluster) : "not_leader";
  }

  /** Finishes what features have half done: nothing may stay paused. Everything still runs meanwhile. */
  finish(): Promise<unknown> {
    return waitAtMost(this.#machine.setTimer, stoppingMaxMs, this.features.stopping());
  }

  /** Stops probing; it cannot be started again. Resolves once the state file is written. */
  async stop(): Promise<void> {
    if (this.#phase === "running") this.eventLog.recordStop(this.#clusterNames, version());
    this.#phase = "closed";
    const ended = this.features.end();
    this.#sources.stop();
    this.#drains.stop();
    this.#cancelTick?.();
    await Promise.all([ended, this.#stateFile.flush()]);
  }

  /** At the start features are open before listeners: only another configuration is given to them again. */
  #configureFeatures(): void {
    if (this.#ofFeatures === this.#config) return;
    this.#ofFeatures = this.#config;
    this.features.configure(this.#config);
  }

  get #clusterNames(): readonly string[] {
    return this.store.current.clusters.map(({ name }) => name);
  }

  #buildStateFile(): StateFile {
    const boot = { clock: this.clock, bootId: this.#machine.bootId };
    return new StateFile(() => this.#config.stateFile, this.#log, { boot, heard: () => this.proofs.heard });
  }

  #buildDrains(): Drains {
    const { store, clock } = this;
    return new Drains(store, {
      clock: { now: () => clock.observe(), wall: () => clock.wall() },
      setTimer: this.#machine.setTimer,
      log: this.#log,
      record: (outcome) => this.#record(outcome),
      save: () => this.#stateFile.write(() => store.current),
      onChange: (change) => this.eventLog.recordDrain(change),
    });
  }

  #buildProbers(metrics: MonitorContext["metrics"], probed: ConnectedAddresses): Probers {
    const log = this.#log;
    const [machine, clock] = [this.#machine, this.clock];
    const cluster = (name: string): ClusterState | undefined => this.store.clusterNamed(name);
    return new Probers({
      cluster,
      policy: (name) => this.store.policyOf(name),
      now: () => clock.observe(),
      wall: () => clock.wall(),
      ...machine,
      setTimer: machine.setProbeTimer ?? machine.setTimer,
      connect: (origin, limits, tls) =>
        machine.connect(origin, { ...limits, onConnected: (ip) => probed.connected(origin, ip) }, tls),
      ...logDocumentFailures(
        {
          cluster,
          now: () => clock.now(),
          record: (outcome) => this.#record(outcome),
          onProbeFinished: (result) => metrics.probed(result),
        },
        log,
      ),
      brought: () => nodeProbes.in(this.offers),
      finders: () => nodeFinders.in(this.offers),
      onFirstRound: (name) => this.#endFirstRound(name),
      onBurst: (burst) => metrics.own.count("bursts", { cluster: burst.cluster, cause: burst.cause }),
      onBurstProbes: (sent) => metrics.own.count("burstProbes", { cluster: sent.cluster }, sent.probes),
      onTls: (name, problem) => logTlsFiles(log, name, problem),
    });
  }

  #buildSources(): EvidenceOrigins {
    return new EvidenceOrigins(this.#config, {
      offers: this.offers,
      probers: this.#probers,
      probing: (clusters) => this.features.probing(clusters),
      mayBegin: () => this.features.probesMayBegin(),
    });
  }

  #buildLateness(): LatenessWatch {
    return new LatenessWatch({
      store: this.store,
      isProbed: (name) => this.#phase === "running" && this.#sources.isProbed(name),
      now: () => this.clock.now(),
      onChange: (lateForMs) => this.eventLog.recordLateness(lateForMs),
      onWithdrawn: () => this.features.withdrawn(),
    });
  }

  #buildFeatures(
    follows: KnownOfProcess & Pick<FeaturesContext, "log" | "metrics" | "cluster" | "policy" | "setTimer">,
    probed: ConnectedAddresses,
  ): Features {
    const { store, clock } = this;
    const { random, newInstanceId } = this.#machine;
    return featuresOf({
      ...follows,
      snapshot: () => store.current,
      now: () => clock.now(),
      observe: () => clock.observe(),
      reading: () => clock.observeReading(),
      wall: () => clock.wall(),
      random,
      newId: newInstanceId,
      events: {
        recent: () => this.eventLog.events.recent(),
        openCount: (cluster) => this.eventLog.openCount(cluster),
        subscribe: (listener) => this.eventLog.events.subscribe(listener),
      },
      onOutcome: (listener) => store.onOutcome((outcome) => listener(outcome)),
      record: (outcome) => this.#record(outcome),
      told: this.#takesWord(),
      probes: {
        begin: (cluster) => this.#probers.begin(cluster),
        end: (cluster) => this.#probers.end(cluster),
        isActive: (cluster) => this.#probers.isActive(cluster),
        ask: (cluster, node) => this.#probers.ask(cluster, node),
        divide: () => this.#sources.divide(),
      },
      brought: (cluster) => this.features.brought(cluster),
      drains: this.#drains,
      probedAt: ({ api }) => probed.of(api),
      reconnectTo: (cluster, node) => this.#probers.reconnectTo(cluster, node),
      isWithdrawn: () => this.lateness.wasWithdrawn,
      offers: this.offers,
      isOwnAddress: (cluster, node) => this.proofs.isOwn(cluster, node),
      probeNow: (cluster) => this.probeNow(cluster),
      announceChange: (change) => this.eventLog.recordCall(change),
      hint: (hint) => this.followHint(hint),
      publish: (event, fields = {}) => contain(this.#errorLines, {}, () => this.eventLog.record(event, fields)),
      changed: (name) => contain(this.#errorLines, { cluster: name }, () => this.#examine(name)),
      contained: (err, about) =>
        this.#errorLines.write({ level: "error", text: "internal error of a feature; the rest goes on" }, () => ({
          err,
          ...about,
        })),
    });
  }

  /** Takes what another instance says. */
  #takesWord(): ToldEvidence {
    return {
      record: (outcome) => {
        this.proofs.hear(outcome.cluster);
        this.#record(outcome);
      },
      adopt: (state) => {
        this.proofs.hear(state.name);
        this.store.adopt(state);
      },
      drained: (change) => this.eventLog.recordDrain(change),
      first: (cluster) => this.#endFirstRound(cluster),
    };
  }

  #record(outcome: ProbeOutcome): void {
    const nowMs = this.clock.observe();
    const { cluster, kind } = outcome;
    contain(this.#errorLines, { cluster, kind }, () => this.eventLog.recordOutcome(outcome, nowMs));
    contain(this.#errorLines, { cluster, kind }, () => this.store.record(outcome, nowMs));
  }

  /** Each consequence of a change is a listener of its own: one that fails keeps the change from no other. */
  #followChanges(): void {
    const { store } = this;
    store.onChange((_, { name }) => this.features.clusterChanged(name));
    store.onChange((before, after) => this.#recordTransition(before, after));
    store.onChange((before, after) => {
      if (!hasSameSavedState(before, after)) void this.#stateFile.write(() => store.current);
    });
    store.onChange((before, after) => this.#probers.onChange(before, after));
  }

  /** What the first round found is what the next change is compared with: it is examined now, not with that change. */
  #endFirstRound(name: string): void {
    this.eventLog.endFirstRound(name);
    this.#examine(name);
  }

  /** Looks for events although the state of the cluster is the same. */
  #examine(name: string): void {
    const cluster = this.store.clusterNamed(name);
    if (cluster !== undefined) this.#recordTransition(cluster, cluster);
  }

  #recordTransition(before: ClusterState, after: ClusterState): void {
    const policy = this.store.policyOf(after.name);
    if (policy !== undefined) this.eventLog.recordTransition(before, after, { policy, nowMs: this.clock.now() });
  }

  /** Reads what earlier processes kept, so that events and verdict changes from before this start are shown too. */
  async #restoreHistory(): Promise<void> {
    const { events, changes } = await this.past.readRecent();
    this.eventLog.events.restore(events);
    this.eventLog.restoreChanges(changes);
  }

  #onGap({ addedMs, stalledMs }: ClockGap): void {
    // The first readings of the clock come from parts that are being made.
    if (this.#phase !== "running") return;
    const fields = { gap_ms: Math.round(addedMs), stall_ms: Math.round(stalledMs) };
    this.#log.warn(fields, "clock gap detected; probing all nodes again");
    // Evidence is older by the gap, so pushed verdicts may have to change before any node answers.
    for (const { name } of this.store.current.clusters) this.features.clusterChanged(name);
    this.#probers.catchUp(addedMs > 0 ? "suspended" : "stalled");
  }

  #tickLater(): void {
    this.#cancelTick?.();
    this.#cancelTick = this.#machine.setTimer(() => {
      this.#tickLater();
      for (const work of [() => this.clock.tick(), () => this.#examineEmpty(), () => this.lateness.examine()])
        contain(this.#errorLines, {}, work);
    }, this.#config.probe.intervalMs);
  }

  /** Time alone, without a change, leads to the event `blind` of a cluster in which `discover` has found no node. */
  #examineEmpty(): void {
    for (const cluster of this.store.current.clusters)
      if (cluster.nodes.length === 0) this.#recordTransition(cluster, cluster);
  }
}
