import type { LagLimit } from "../core/cluster/lag-limit.ts";
import type { HintRecord } from "../core/cluster/hint.ts";
import type { Config, ListenerConfig } from "../core/config/model/config.ts";
import { buildMetrics } from "./app-metrics.ts";
import { logExpiring } from "./logs/certificate-log.ts";
import { logHint } from "./logs/hint-lines.ts";
import { LimitedLines } from "../core/log/limited-lines.ts";
import { ListenerLog } from "./logs/listener-log.ts";
import { type Logger } from "../core/log/logger.ts";
import type { Store } from "../core/state/store.ts";
import { SnapshotLongPoll } from "../core/http/admin-api/snapshot-long-poll.ts";
import type { OpenListener } from "../core/http/listener/listener-set.ts";
import type { ConfigOverview } from "../core/http/diagnostics/config-overview.ts";
import { AnswerCounter } from "../core/http/message/answer-counter.ts";
import type { ListenerHandler } from "../core/http/message/handler.ts";
import { PageGate } from "../core/http/pages/page-gate.ts";
import { Metrics } from "../core/metrics/metrics.ts";
import { countWorkers } from "../core/workers/worker-count.ts";
import { observePauses } from "./collector-pauses.ts";
import { CertificateExpiry } from "./certificate-expiry.ts";
import { askedByBalancers } from "./handlers/asked-by-balancers.ts";
import { type AnswerSources, answerSourcesOf } from "./handlers/answer-sources.ts";
import { backendCounts, type EdgesSources, describeEdges } from "./handlers/edges.ts";
import { AskedNodes } from "./handlers/asked-nodes.ts";
import { type LimitSources, describeLimits } from "./handlers/lag-limits.ts";
import { buildListenerHandler } from "./handlers/listener-handler.ts";
import { passthroughIn } from "./handlers/passthrough.ts";
import { buildMainBackend } from "./handlers/main-backend.ts";
import { ListenerGroup } from "./listener-group.ts";
import { thisMachine } from "./machine/machine.ts";
import { Monitor } from "./monitor.ts";
import { ProcessLife } from "./process-life.ts";
import type { StateKeeper } from "./state-keeper.ts";
import { type ConfigSource, type ReloadEnd, Reloader } from "./reloader.ts";
import { fullStateOf } from "./worker/full-state.ts";
import { pasts, seamlessSwitchovers } from "../core/feature/offers.ts";
import type { SeamlessSwitchovers } from "../core/feature/switchovers.ts";
import type { HoldAnswer } from "../core/cluster/hint.ts";
import { reloadAppliedEvent, reloadRefusedEvent } from "../core/events/announced-events.ts";

/** What a serving process may be given in addition to its configuration. */
export interface AppOptions {
  /** File descriptors of listening sockets passed by systemd, in the order of the configured listeners. */
  readonly inherited?: readonly number[];
  /** Where `reload` loads the configuration again. */
  readonly source?: ConfigSource;
  /** Knows where the state is kept, and who writes there too. Nothing is known if left out. */
  readonly state?: StateKeeper;
}

/** While the part that holds clients is not open. */
const notHeld: HoldAnswer = { effect: "not_held", run: null, reason: "this part of rolecall is not open" };

/** The composition root of the serving process: wires the modules together, starts and stops them. */
export class App {
  readonly #log: Logger;
  readonly #monitor: Monitor;
  readonly #metrics: Metrics;
  readonly #certificates: CertificateExpiry;
  readonly #snapshots: SnapshotLongPoll;
  readonly #listenerLog: ListenerLog;
  readonly #hintLines: LimitedLines;
  readonly #listeners: ListenerGroup;
  readonly #reloader: Reloader;
  readonly #sources: AnswerSources;
  readonly #configFile: string | null;
  readonly #counter = new AnswerCounter();
  readonly #asked: AskedNodes;
  /** Limits the pages of all listeners together. Requests that workers relay count too. */
  readonly #gate = new PageGate();
  readonly #askedChecks = askedByBalancers(
    () => this.#limits(),
    () => performance.now(),
  );
  readonly #life: ProcessLife;
  readonly #state: StateKeeper | null;
  #endOutcomes: () => void = () => {};
  #endPauses: () => void = () => {};
  #config: Config;

  constructor(config: Config, log: Logger, { inherited = [], source, state }: AppOptions = {}) {
    this.#config = config;
    this.#log = log;
    this.#state = state ?? null;
    this.#configFile = source?.file ?? null;
    this.#metrics = buildMetrics({
      log,
      counter: this.#counter,
      config: () => this.#config,
      monitor: () => this.#monitor,
      listeners: () => this.#listeners,
      certificates: () => this.#certificates,
      asked: this.#askedChecks,
      reloader: () => this.#reloader,
    });
    const asked = this.#askedChecks;
    this.#monitor = new Monitor(config, {
      log,
      machine: thisMachine,
      metrics: this.#metrics,
      process: {
        asked: {
          checks: asked,
          nodes: (cluster) => this.#asked.of(cluster),
          limits: async (cluster) => (await this.#limits())(cluster),
        },
        loadedConfig: () => this.#describeConfig(),
        backendCounts: async () => {
          await this.#listeners.refresh();
          return backendCounts({ counter: this.#counter, listeners: this.#listeners });
        },
      },
    });
    const { store, clock } = this.#monitor;
    const [counter, now] = [this.#counter, (): number => performance.now()];
    this.#asked = new AskedNodes({ store, counter, listeners: () => this.#listeners, now });
    this.#certificates = new CertificateExpiry((readings) => logExpiring(log, readings, clock.wall()));
    this.#sources = answerSourcesOf({
      store: () => store,
      clock: () => clock,
      phase: () => this.#life.phase,
      counter: this.#counter,
      portOf: (listener) => this.#listeners.portOf(listener),
      lateness: () => this.#monitor.lateness,
    });
    this.#snapshots = new SnapshotLongPoll(() => store.current);
    this.#listenerLog = new ListenerLog(log, this.#metrics.own);
    this.#hintLines = new LimitedLines(log, { what: "hints", level: "info", max: 10, periodMs: 10_000 });
    this.#listeners = this.#buildListeners(inherited);
    this.#life = this.#buildLife();
    this.#reloader = this.#buildReloader(source ?? null);
  }

  /** The open listeners, with the ports that they have. */
  get listeners(): readonly OpenListener[] {
    return this.#listeners.listeners;
  }

  /**
   * Starts: admin listeners open at once, probing begins, health listeners open after the first round or one timeout
   * (docs/operations.md, "Signals and exit codes"). A stop that comes meanwhile ends the start.
   * @throws ListenError if a listener cannot be opened; everything is closed then
   */
  start(): Promise<void> {
    return this.#life.start();
  }

  /** Loads the configuration again and applies it. @returns why that was refused, or `null` */
  reload(): Promise<string | null> {
    return this.#reloader.reload();
  }

  /**
   * Puts another configuration in force: unchanged listeners keep their sockets, nodes whose address stays keep their
   * evidence.
   * @throws ListenError if a new listener cannot be opened; the old configuration stays in force then
   * @throws StoppingError if the process has begun to stop
   */
  async apply(config: Config): Promise<void> {
    await this.#life.putInForce(await this.#listeners.prepare(config.listen), () => {
      this.#config = config;
      this.#monitor.configure(config);
      this.#log.level = config.log.level;
      this.#certificates.start(config);
    });
    void this.#state?.follow(config.stateFile);
    const open = new Set(this.#listeners.listeners.map(({ key }) => key));
    this.#monitor.features.listening(open);
    this.#metrics.forgetNodes();
    this.#asked.retain(config.clusters.map(({ name }) => name));
    await this.#monitor.start();
    await this.#listeners.resize();
    this.#life.refuseIfEnding();
  }

  /** Logs and counts an error that only the process-wide handler caught. */
  logContained(error: unknown): void {
    this.#listenerLog.logContained(error);
  }

  /**
   * Stops, whatever runs. With `drains`, `/readyz` says no and answers go on for the configured time before everything
   * is closed. A second call ends the workers at once, and waits for nothing.
   */
  stop(how: { readonly drains: boolean }): Promise<void> {
    return this.#life.stop(how);
  }

  async #start(): Promise<void> {
    const { store } = this.#monitor;
    this.#endPauses = observePauses((durationMs) => this.#metrics.own.observe("gcPauses", {}, durationMs));
    this.#certificates.start(this.#config);
    await this.#state?.follow(this.#config.stateFile);
    await this.#monitor.restore();
    this.#state?.announce(this.#config.stateFile, this.#monitor.past.directory);
    this.#endOutcomes = this.#listeners.follow(store);
    store.onChange(() => this.#snapshots.changed());
    await this.#listeners.openAdmin(this.#config.listen);
    await this.#monitor.start();
    await this.#life.putInForce(await this.#listeners.prepare(this.#config.listen), () => {});
    await this.#listeners.resize();
  }

  async #close(): Promise<void> {
    await this.#monitor.finish();
    await this.#listeners.close();
    // The probes end later, and the workers are gone.
    this.#endOutcomes();
    this.#endPauses();
    this.#certificates.stop();
    this.#listenerLog.stop();
    this.#hintLines.end();
    await this.#monitor.stop();
    await this.#state?.close();
  }

  /** The configuration in force, and where state is kept. */
  #describeConfig(): ConfigOverview {
    const state = this.#state?.describe(this.#config.stateFile, this.#monitor.past.directory);
    return { ...this.#reloader.describe(), ...(state === undefined ? {} : { state }) };
  }

  /** What carries out switchovers during which clients wait; `null`: it is not open. */
  #seamless(): SeamlessSwitchovers | null {
    return seamlessSwitchovers.in(this.#monitor.offers)[0] ?? null;
  }

  #buildLife(): ProcessLife {
    return new ProcessLife({
      start: () => this.#start(),
      reload: () => this.#reloader.runWaiting(),
      refuse: () => this.#reloader.close(),
      drainMs: () => this.#config.drainMs,
      close: () => this.#close(),
      kill: () => this.#listeners.kill(),
      onPhase: (phase) => {
        if (phase === "draining") this.#monitor.features.draining();
        this.#listeners.setPhase(phase);
      },
    });
  }

  #buildReloader(source: ConfigSource | null): Reloader {
    return new Reloader({
      log: this.#log,
      source,
      advance: (event) => this.#life.advance(event),
      apply: (next) => this.apply(next),
      wall: () => this.#monitor.clock.wall(),
      onReload: (ended) => this.#recordReload(ended),
    });
  }

  #buildListeners(inherited: readonly number[]): ListenerGroup {
    return new ListenerGroup({
      log: this.#log,
      workers: () => countWorkers(this.#config.workers, nodesOf(this.#monitor.store)),
      inherited,
      handlerFor: (listener) => this.#handlerFor(listener),
      dialects: {
        alpnOf: (dialect) => this.#monitor.features.alpnOf(dialect),
        handlerFor: (listener, key) =>
          this.#monitor.features.handlerFor(listener.dialect, { listener, config: this.#config, key }),
      },
      eventsOf: (listener) => this.#listenerLog.eventsOf(listener),
      fullState: () => fullStateOf({ monitor: this.#monitor, config: this.#config, phase: this.#life.phase }),
      onContained: (problem) => this.logContained(problem),
    });
  }

  #edges(): EdgesSources & LimitSources {
    const [monitor, listeners, counter] = [this.#monitor, this.#listeners, this.#counter];
    return { monitor, listeners, counter, phase: this.#life.phase, configFile: this.#configFile };
  }

  #limits(): Promise<(cluster: string) => readonly LagLimit[]> {
    return describeLimits(this.#config, this.#edges());
  }

  /** A reload that is abandoned counts as refused, and is no event: rolecall is stopping. */
  #recordReload(ended: ReloadEnd): void {
    const { eventLog } = this.#monitor;
    this.#metrics.own.count("reloads", { outcome: ended.kind === "applied" ? "applied" : "refused" });
    if (ended.kind === "applied") eventLog.recordProcess(reloadAppliedEvent(ended.clusters, ended.refusedForMs));
    if (ended.kind === "refused") eventLog.recordProcess(reloadRefusedEvent(ended.refused, ended.loadedAtMs));
  }

  #recordHint(record: HintRecord): void {
    const { cluster, effect } = record;
    this.#metrics.own.count("hints", { cluster, effect });
    logHint(this.#hintLines, record);
  }

  #handlerFor(listener: ListenerConfig): ListenerHandler {
    const inConfig = { listener, config: this.#config };
    const { drains, eventLog, clock } = this.#monitor;
    const backend = buildMainBackend(inConfig, this.#sources, {
      drains,
      pools: this.#monitor.lateness.pools,
      hints: {
        follow: (hint) => this.#monitor.followHint(hint),
        onHint: (record) => this.#recordHint(record),
        announceStop: (...about) => this.#seamless()?.announceStop(...about) ?? Promise.resolve(notHeld),
      },
      eventLog,
      past: () => pasts.in(this.#monitor.offers)[0] ?? null,
      passthrough: passthroughIn(this.#monitor.offers),
      snapshots: this.#snapshots,
      edges: (only) => describeEdges(this.#edges(), only),
      balancers: (only) => this.#monitor.balancers(only),
      features: this.#monitor.features,
      asked: () => this.#asked.describe(),
      limits: async (cluster) => (await this.#limits())(cluster),
      askedChecks: this.#askedChecks,
      config: () => this.#describeConfig(),
      metrics: this.#metrics,
      gate: this.#gate,
      wall: () => clock.wall(),
      reload: () => this.reload(),
      configFile: this.#configFile,
    });
    return buildListenerHandler(inConfig, this.#sources, backend);
  }
}

/** How many nodes are known: those that are configured, and those that were found. */
function nodesOf(store: Store): number {
  return store.current.clusters.reduce((sum, { nodes }) => sum + nodes.length, 0);
}
