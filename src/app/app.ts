import { randomBytes } from "node:crypto";
import { clusterNamed } from "../cluster/lookup.ts";
import { withAccusations } from "../state/accusations-file.ts";
import { handlerFor } from "./handlers.ts";
import { EventLog } from "../events/event-log.ts";
import { Clock, originOfClock, type ClockGap } from "../state/clock.ts";
import type { ProbeOutcome } from "../cluster/outcome.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { Config, ListenerConfig } from "../config/model/config.ts";
import { logDocumentFailures } from "../events/document-failure-log.ts";
import { Drains } from "../state/drains.ts";
import { ListenerGroup, inheritedSockets } from "./listener-group.ts";
import type { OpenListener } from "../http/listener/listener-set.ts";
import type { ListenerHandler } from "../http/message/handler.ts";
import { PageGate } from "../http/pages/page-gate.ts";
import { AnswerCounter } from "../http/message/answer-counter.ts";
import { Gatehouse } from "./gatehouse.ts";
import { lostLinesOf, type Logger } from "../events/logger.ts";
import { hasSameMembership, MembersFile, readMembers } from "../state/members-file.ts";
import { Metrics } from "../metrics/metrics.ts";
import { Probers } from "../probe/probers.ts";
import { isBlindEverywhere } from "../health/evidence/readiness.ts";
import { Store } from "../state/store.ts";
import { livenessIntervalFactor, buildClusters } from "../state/clusters.ts";
import { version } from "../config/version.ts";
import { countOfWorkers } from "../workers/worker-count.ts";
import type { Phase, FullState } from "../workers/messages.ts";

/** Reads the configuration again; gives why it came to nothing, or `null`. */
type Reload = () => Promise<string | null>;

/** The fuse box: the only place where the rooms are wired together. */
export class App {
  readonly #log: Logger;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #probers: Probers;
  readonly #listeners: ListenerGroup;
  readonly #workers: number;
  readonly #gatehouse: Gatehouse;
  readonly #members: MembersFile;
  readonly #metrics: Metrics;
  readonly #drains: Drains;
  readonly #counter = new AnswerCounter();
  readonly #gate = new PageGate();
  readonly #eventLog: EventLog;
  #config: Config;
  #beat: NodeJS.Timeout | null = null;
  #phase: Phase = "starting";
  #reload: Reload = () => Promise.resolve("nobody told this process how");
  #file: string | null = null;

  /** @param inherited file descriptors of listening sockets passed by systemd: the first is the first listener's, and so on */
  constructor(config: Config, log: Logger, inherited: readonly number[] = []) {
    this.#config = config;
    this.#log = log;
    const remembered = config.stateFile === null ? new Map() : this.#readMembers(config, config.stateFile);
    const monitored = buildClusters(config, remembered);
    const begun = config.stateFile === null ? monitored : withAccusations(monitored, config.stateFile);
    this.#store = new Store(randomBytes(6).toString("hex"), begun);
    this.#clock = new Clock({ beatMs: config.probe.intervalMs, onGap: (gap) => this.#onGap(gap) });
    const policy = (cluster: string): ReturnType<Store["settings"]> => this.#store.settings(cluster);
    const record = (outcome: ProbeOutcome): void => this.#record(outcome);
    const wires = {
      policy,
      now: () => this.#clock.now(),
      wall: () => this.#clock.wall(),
      snapshot: () => this.#store.current,
    };
    this.#metrics = new Metrics({
      ...wires,
      answers: () => [...this.#counter.rows(), ...this.#listeners.answers()],
      workers: () => this.#listeners.usage(),
      fastPath: () => this.#listeners.fastPathCounts(),
      lostLogLines: () => lostLinesOf(log),
      refresh: () => this.#listeners.refresh(),
      exporter: () => this.#config.exporter,
      asks: () => ({ probe: this.#config.probe, livenessEvery: livenessIntervalFactor }),
      version: version(),
    });
    this.#probers = new Probers({
      cluster: (cluster) => this.#part(cluster),
      ...wires,
      random: Math.random,
      ...logDocumentFailures({ ...wires, record, onProbeFinished: (result) => this.#metrics.probed(result) }, log),
      onTls: (cluster, problem) =>
        this.#log[problem === null ? "info" : "error"]({ cluster, problem }, "TLS files read"),
    });
    this.#gatehouse = new Gatehouse({
      ...wires,
      probeNow: (name) => this.#probers.probeCluster(name),
      log,
      metrics: this.#metrics.management,
    });
    this.#members = new MembersFile(log);
    this.#eventLog = new EventLog({ log, metrics: this.#metrics, clock: this.#clock });
    this.#workers = countOfWorkers(config.workers);
    this.#listeners = new ListenerGroup(
      this.#workers,
      {
        log,
        handlerFor: (listener) => this.#handlerFor(listener),
        eventsOf: (listener) => this.#gatehouse.eventsOf(listener),
        fullState: () => this.#standing(),
        onContained: (problem) => this.contained(problem),
      },
      inheritedSockets(config.listen, inherited),
    );
    this.#drains = new Drains(this.#store, { clock: this.#clock, log, stateFile: config.stateFile, record });
    this.#store.onOutcome((...recorded) => this.#listeners.record(...recorded));
    this.#store.onChange((before, after) => this.#onPart(before, after));
    this.#store.onChange(() => this.#gatehouse.snapshots.changed());
  }

  /** The listeners that are open, with the ports they have. */
  get doors(): readonly OpenListener[] {
    return this.#listeners.listeners;
  }

  /**
   * Starts: admin listeners open at once, probing begins, health listeners open after the first round or one timeout
   * (design.md, "Deployment we promise").
   * @throws DoorError where a listener cannot be opened
   */
  async start(): Promise<void> {
    this.#gatehouse.start(this.#config.clusters);
    if (this.#config.stateFile !== null) await this.#members.sweep(this.#config.stateFile);
    await this.#listeners.openAdmin(this.#config.listen);
    this.#startBeating();
    await this.#probers.start(this.#config, livenessIntervalFactor);
    await this.#listeners.open(this.#config.listen);
    this.#enter("serving");
  }

  /**
   * Takes another configuration: unchanged listeners keep their sockets, nodes whose address stays keep their evidence.
   * @throws DoorError where a new listener cannot be opened; then the old configuration stays in force
   */
  async reload(config: Config): Promise<void> {
    try {
      await this.#listeners.open(config.listen, () => {
        this.#config = config;
        this.#store.replace(
          buildClusters(config, new Map(this.#store.current.clusters.map((cluster) => [cluster.name, cluster]))),
        );
      });
    } catch (error) {
      this.reloadRefused();
      throw error;
    }
    if (countOfWorkers(config.workers) !== this.#workers)
      this.#log.warn({ workers: this.#workers }, "another number of workers needs a restart");
    this.#log.level = config.log.level;
    this.#metrics.forgetNodes();
    this.#gatehouse.start(config.clusters);
    this.#startBeating();
    await this.#probers.start(config, livenessIntervalFactor);
    this.#metrics.reloaded("applied");
  }

  /** To be told how the configuration is read again: listeners of the exporter dialect can be asked for it. */
  reloadBy(reload: Reload, file: string | null): void {
    this.#reload = reload;
    this.#file = file;
  }

  /** A reload that came to nothing is counted too. */
  reloadRefused(): void {
    this.#metrics.reloaded("refused");
  }

  /** Logs and counts what only the last resort of a process caught. */
  contained(error: unknown): void {
    this.#gatehouse.contained(error);
  }

  /** Stops. Where it drains, `/readyz` says no and answers go on for the configured time before everything is closed. */
  async stop({ drains }: { readonly drains: boolean }): Promise<void> {
    this.#enter("draining");
    // Unreferenced, for a second call ends without it: while it lasts the open doors keep the process.
    if (drains) await new Promise((resolve) => void setTimeout(resolve, this.#config.drainMs).unref());
    await this.#listeners.close();
    this.#probers.stop();
    this.#gatehouse.stop();
    this.#drains.stop();
    if (this.#beat !== null) clearInterval(this.#beat);
    await this.#members.written;
  }

  #handlerFor(listener: ListenerConfig): ListenerHandler {
    return handlerFor(listener, this.#config, {
      store: this.#store,
      clock: this.#clock,
      eventLog: this.#eventLog,
      gatehouse: this.#gatehouse,
      metrics: this.#metrics,
      drains: this.#drains,
      counter: this.#counter,
      gate: this.#gate,
      unready: () => this.#unready(),
      reload: () => this.#reload(),
      file: () => this.#file,
    });
  }

  /** What a worker answers from. */
  #standing(): Omit<FullState, "relay"> {
    const { instance, sequence, clusters } = this.#store.current;
    const clock = this.#clock.read();
    return { config: this.#config, instance, sequence, clusters, phase: this.#phase, clock, originMs: originOfClock() };
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#listeners.setPhase(phase);
  }

  /** Why this process should not be sent traffic, or `null`. */
  #unready(): string | null {
    if (this.#phase !== "serving") return this.#phase;
    return isBlindEverywhere(this.#store, this.#clock.now()) ? "blind" : null;
  }

  #part(cluster: string): ClusterState | undefined {
    return clusterNamed(this.#store.current, cluster);
  }

  /** A mistake of our own in taking an answer in must not end the probing: that node's evidence ages, and ages into a no. */
  #record(outcome: ProbeOutcome): void {
    try {
      const nowMs = this.#clock.now();
      this.#eventLog.recordOutcome(outcome, nowMs);
      this.#store.record(outcome, nowMs);
    } catch (error) {
      this.#log.error({ err: error, cluster: outcome.cluster, kind: outcome.kind }, "outcome not recorded");
    }
  }

  #onPart(before: ClusterState, after: ClusterState): void {
    const policy = this.#store.settings(after.name);
    if (policy === undefined) return;
    this.#eventLog.recordTransition(before, after, { policy, nowMs: this.#clock.now() });
    if (this.#config.stateFile !== null && !hasSameMembership(before, after))
      this.#members.write(this.#config.stateFile, () => this.#store.current);
    this.#probers.onChange(before, after);
  }

  #readMembers({ clusters }: Config, file: string): ReturnType<typeof readMembers> {
    return readMembers(file, clusters, (problem) =>
      this.#log.warn({ file, problem }, "state file not used, or used only in part"),
    );
  }

  #onGap({ addedMs, stalledMs }: ClockGap): void {
    const found = { gap_ms: Math.round(addedMs), stall_ms: Math.round(stalledMs) };
    this.#log.warn(found, "clock gap detected; probing all nodes again");
    this.#probers.probeAll();
  }

  #startBeating(): void {
    if (this.#beat !== null) clearInterval(this.#beat);
    this.#clock.setTickInterval(this.#config.probe.intervalMs);
    this.#beat = setInterval(() => this.#clock.tick(), this.#config.probe.intervalMs);
  }
}
