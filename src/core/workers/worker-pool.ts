import type { SendHandle } from "node:child_process";
import type { ProbeOutcome } from "../cluster/outcome.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { ListenerConfig } from "../config/model/config.ts";
import type { BindTarget } from "../http/listener/bind-target.ts";
import type { ListenerSet, OpenListener, PreparedListeners } from "../http/listener/listener-set.ts";
import type { FastPathCounts } from "../http/message/fast-path-counts.ts";
import type { RequestHandler } from "../http/message/handler.ts";
import type { FromWorker, FullState, Phase, RelayAddress, ToWorker, WorkerReport } from "./messages.ts";
import { OutcomeFeed } from "./outcome-feed.ts";
import { RelayServer } from "./relay-server.ts";
import { type PreparedWorkers, prepareInForce, prepareSlots } from "./prepare-slots.ts";
import { SharedSockets } from "./shared-sockets.ts";
import { StandIn } from "./stand-in.ts";
import { WorkerError, type WorkerProcess } from "./worker-process.ts";
import { HeartbeatMonitor, StoppedWorkers } from "./worker-watch.ts";
import { WorkerSlot } from "./worker-slot.ts";
import { WorkerStats, type WorkerUsage } from "./worker-stats.ts";
import type { ClockReading } from "../state/clock.ts";
import { tellReport, type WorkerReportsContext } from "./worker-reports.ts";

/** What a worker pool depends on. */
export interface WorkerPoolContext extends WorkerReportsContext {
  /** What a worker answers from, as it is now. */
  readonly fullState: () => Omit<FullState, "relay">;
  /** Gives the handler of requests that a worker relays. */
  readonly handlerFor: (listener: ListenerConfig) => RequestHandler;
  /** Creates listeners of the main process on sockets that listen already, by the key of their listener, if there are. */
  readonly listenersOn: (socketOf: (key: string) => BindTarget | undefined) => ListenerSet;
}

/**
 * `changing`: its listeners or the number of workers are being changed, and the main process, which answers meanwhile,
 * goes on with that whatever workers do. `stopped` is the last.
 */
type PoolLife = "serving" | "changing" | "stopped";

/** How long to wait for a fresh report, in ms. */
const reportTimeoutMs = 250;

/**
 * Who answers at the health listeners: worker processes while the main process probes the nodes, or the main process
 * itself while no worker does.
 */
export class WorkerPool {
  readonly #context: WorkerPoolContext;
  #slots: readonly WorkerSlot[] = [];
  /** Slots that are not wanted any more, as long as their workers have connections. */
  readonly #retiring = new Set<WorkerSlot>();
  readonly #sockets: SharedSockets;
  readonly #stats = new WorkerStats();
  readonly #feed: OutcomeFeed;
  readonly #heartbeats: HeartbeatMonitor;
  readonly #stopped: StoppedWorkers;
  readonly #standIn: StandIn;
  /** `null` while there are no workers. */
  #relay: { readonly server: RelayServer; readonly address: RelayAddress } | null = null;
  /** The listeners as configured; `null` before they are opened for the first time. */
  #configured: readonly ListenerConfig[] | null = null;
  #listeners: readonly OpenListener[] = [];
  #life: PoolLife = "serving";
  /** How many workers are getting sockets, and have not opened all of them. */
  #bringingUp = 0;

  constructor(context: WorkerPoolContext) {
    this.#context = context;
    const { log } = context;
    this.#heartbeats = new HeartbeatMonitor(() => this.#following(), log);
    this.#stopped = new StoppedWorkers(() => this.#allSlots.flatMap(({ process: worker }) => worker ?? []), log);
    this.#standIn = new StandIn({ log, listeners: context.listenersOn((key) => this.#sockets.take(key)) });
    this.#sockets = new SharedSockets((key) => this.#standIn.socketOf(key));
    this.#feed = new OutcomeFeed((changes) => this.#tell((clock) => ({ kind: "changes", changes, clock })));
  }

  /** The open listeners, whoever answers. */
  get listeners(): readonly OpenListener[] {
    return this.#listeners;
  }

  /** Takes a socket that listens already, for the listener with this key. */
  adoptSocket(key: string, socket: SendHandle): void {
    this.#sockets.add(key, socket);
  }

  /**
   * Lets so many workers answer. Those that start answer when they are ready; until the first one is, and from then on
   * that none is wanted, the main process answers. Those that are not wanted any more finish with their connections.
   * Resolves when all of that has begun.
   */
  async resize(count: number): Promise<void> {
    if (this.#isStopped) return;
    if (count > 0) await this.#openRelay();
    if (count === 0 && !(await this.#answerAlone())) return;
    // It may have been stopped meanwhile: nothing would end what is started now.
    if (this.#isStopped) return;
    const leaving = this.#slots.slice(count);
    const missing = Array.from({ length: count - this.#slots.length + leaving.length }, (_, at) =>
      this.#slotOf(this.#slots.length + at),
    );
    this.#slots = [...this.#slots.slice(0, count), ...missing];
    for (const slot of missing) void slot.spawn();
    for (const slot of leaving) void this.#retire(slot);
    this.#enter("serving");
    if (count === 0 && leaving.length > 0) this.#retainSockets([]);
    this.#review();
  }

  /** Passes an outcome that changed the snapshot on to the workers. */
  record(outcome: ProbeOutcome, nowMs: number, sequence: number): void {
    if (this.#relay === null) return;
    this.#feed.add(outcome, nowMs, sequence);
    // A drain must be in force when the operator's request is answered.
    if (outcome.kind === "drain") this.#feed.flush();
  }

  /** Passes a state of another instance that was adopted on to the workers. They have the state of its source. */
  adopt(state: ClusterState, sequence: number): void {
    if (this.#relay === null) return;
    this.#feed.flush();
    this.#tell((clock) => ({ kind: "adopted", state: { ...state, source: null }, sequence, clock }));
  }

  /** Sends pending outcomes now: the next ones belong to another full state. */
  flush(): void {
    this.#feed.flush();
  }

  setPhase(phase: Phase): void {
    this.#tell((clock) => ({ kind: "phase", phase, clock }));
  }

  /** Gets a fresh report from every worker that answers in time. */
  async refreshReports(): Promise<void> {
    await Promise.all(this.#following().map((worker) => worker.refreshReport(reportTimeoutMs)));
  }

  /** What the workers answered so far. A route and status may occur more than once. */
  answers(): WorkerReport["answers"] {
    return this.#stats.answers(this.reports());
  }

  /** What the fast path did in each worker, and in the main process in their place. */
  fastPathCounts(): readonly FastPathCounts[] {
    return [this.#standIn.fastPathCounts, ...this.#stats.fastPathCounts(this.reports())];
  }

  /** What the workers used of the machine, how many answer, and how many exited unexpectedly; `null`: there were none. */
  usage(): WorkerUsage | null {
    const usage = this.#stats.usage(this.reports());
    return this.#relay === null && usage.cpuS === 0 ? null : { ...usage, count: this.#workers().length };
  }

  /**
   * Prepares to have exactly these listeners open, in every worker or, if none answers, in the main process. A worker
   * that ends or hangs meanwhile is replaced.
   * @throws ListenError if a listener cannot be opened; nothing has changed then
   */
  async prepare(configs: readonly ListenerConfig[]): Promise<PreparedListeners> {
    if (this.#workers().length === 0) return this.#prepareStandIn(configs);
    // One that has not closed a listener yet, as the last reload has asked, would hold its port.
    await this.refreshReports();
    let prepared: PreparedWorkers;
    try {
      prepared = await prepareSlots(this.#slots, this.#sockets, configs);
    } catch (error) {
      this.#abandon();
      if (error instanceof WorkerError) return this.#prepareStandIn(configs);
      throw error;
    }
    const { listeners, workers } = prepared;
    return {
      listeners,
      commit: async () => this.#commit(configs, listeners, workers),
      abandon: async () => this.#abandon(),
    };
  }

  /** Ends all workers. They finish the answers in flight. */
  async stop(): Promise<void> {
    this.#life = "stopped";
    await Promise.all([this.#standIn.close(), ...this.#allSlots.map((slot) => slot.stop())]);
    this.#closeRelay();
    this.#retainSockets([]);
  }

  /** Ends all workers at once, in whatever state they are. */
  kill(): void {
    for (const { process: worker } of this.#allSlots) worker?.kill();
  }

  /** What the running workers reported last. */
  reports(): readonly WorkerReport[] {
    return this.#following().map(({ report }) => report);
  }

  /** The workers that take new connections. */
  #workers(): readonly WorkerProcess[] {
    return this.#slots.flatMap(({ worker }) => worker ?? []);
  }

  /** The workers that answer, those too that only finish with their connections. */
  #following(): readonly WorkerProcess[] {
    return this.#allSlots.flatMap(({ follower }) => follower ?? []);
  }

  #tell(messageAt: (clock: ClockReading) => ToWorker): void {
    const following = this.#following();
    if (following.length === 0) return;
    const message = messageAt(this.#context.fullState().clock);
    for (const worker of following) worker.send(message);
  }

  get #isStopped(): boolean {
    return this.#life === "stopped";
  }

  /** Stopped is forever. */
  #enter(life: "serving" | "changing"): void {
    if (!this.#isStopped) this.#life = life;
  }

  get #allSlots(): readonly WorkerSlot[] {
    return [...this.#slots, ...this.#retiring];
  }

  #slotOf(number: number): WorkerSlot {
    return new WorkerSlot(number, {
      log: this.#context.log,
      bringUp: (slot) => this.#bringUp(slot),
      onMessage: (slot, message, socket) => this.#handle(slot, message, socket),
      onLost: ({ report }) => this.#stats.addExited(report, "lost"),
      onLeft: ({ report }) => this.#stats.addExited(report, "left"),
      onReadiness: () => this.#review(),
    });
  }

  async #retire(slot: WorkerSlot): Promise<void> {
    this.#retiring.add(slot);
    await slot.retire();
    this.#retiring.delete(slot);
    if (this.#allSlots.length === 0) this.#closeRelay();
  }

  /** Opens what workers need. Stays open until the last one has ended. */
  async #openRelay(): Promise<void> {
    if (this.#relay !== null) return;
    const server = new RelayServer();
    const address = await server.open();
    if (this.#isStopped) return server.close();
    this.#relay = { server, address };
    this.#answerRelayed();
    this.#heartbeats.start();
    this.#stopped.start();
  }

  #closeRelay(): void {
    this.#heartbeats.stop();
    this.#stopped.stop();
    this.#relay?.server.close();
    this.#relay = null;
  }

  /** Lets the main process answer before the last worker takes no new connection. @returns whether it answers */
  async #answerAlone(): Promise<boolean> {
    if (this.#configured === null || this.#slots.length === 0) return true;
    this.#enter("changing");
    if (await this.#standIn.answerAt(this.#configured, "unwanted")) return true;
    this.#enter("serving");
    return false;
  }

  async #prepareStandIn(configs: readonly ListenerConfig[]): Promise<PreparedListeners> {
    this.#enter("changing");
    try {
      const prepared = await this.#standIn.prepare(configs);
      const { listeners } = prepared;
      return {
        listeners,
        commit: async () => {
          const closed = prepared.commit();
          this.#enter("serving");
          this.#commit(configs, listeners, new Set());
          await closed;
        },
        abandon: async () => {
          this.#enter("serving");
          await prepared.abandon();
          this.#abandon();
        },
      };
    } catch (error) {
      this.#enter("serving");
      this.#review();
      throw error;
    }
  }

  #commit(
    configs: readonly ListenerConfig[],
    listeners: readonly OpenListener[],
    prepared: PreparedWorkers["workers"],
  ): void {
    const isFirst = this.#configured === null;
    this.#configured = configs;
    this.#listeners = listeners;
    this.#answerRelayed();
    this.#standIn.follow(configs);
    for (const slot of this.#retiring) if (slot.follower !== null) this.#sendReload(slot);
    for (const slot of this.#slots) {
      if (slot.worker === null) continue;
      if (prepared.has(slot.worker)) {
        if (isFirst) this.#sendFullState(slot);
        else this.#sendReload(slot);
      }
      // A worker that started meanwhile knows only the old listeners.
      else void slot.resync();
    }
    this.#retainSockets(this.#listeners);
    this.#review();
  }

  #answerRelayed(): void {
    const { handlerFor, eventsOf } = this.#context;
    if (this.#relay === null) return;
    const relayed = this.#listeners.map(
      ({ key, config }) => [key, { config, handler: handlerFor(config), events: eventsOf(config) }] as const,
    );
    this.#relay.server.answerFor(new Map(relayed));
  }

  /** While no worker answers, the main process does. */
  #review(): void {
    if (this.#configured === null || this.#isStopped) return;
    if (this.#workers().length === 0) void this.#standIn.answerAt(this.#configured, "lost");
    // Its sockets may be on their way to a worker: closed now, they would not arrive.
    else if (this.#life === "serving" && this.#bringingUp === 0) this.#standIn.rest();
  }

  #abandon(): void {
    for (const { worker } of this.#slots) worker?.send({ kind: "abandon" });
    this.#retainSockets(this.#listeners);
    this.#review();
  }

  #retainSockets(listeners: readonly OpenListener[]): void {
    const keys = new Set(listeners.map(({ key }) => key));
    this.#sockets.retain(keys);
    for (const slot of this.#allSlots) for (const key of slot.keys) if (!keys.has(key)) slot.keys.delete(key);
  }

  /** Makes a new worker answer like the others. Before the first listeners are open there is nothing to answer. */
  async #bringUp(slot: WorkerSlot): Promise<void> {
    this.#bringingUp += 1;
    try {
      while (this.#configured !== null) {
        const configs = this.#configured;
        const preparation = { configs, fullState: this.#fullState(), isInForce: () => configs === this.#configured };
        if (await prepareInForce(slot, this.#sockets, preparation)) return this.#sendFullState(slot);
      }
    } finally {
      this.#bringingUp -= 1;
      this.#review();
    }
  }

  #sendFullState(slot: WorkerSlot): void {
    this.#feed.flushAndReset();
    slot.process?.send({ kind: "commit", fullState: this.#fullState() });
  }

  /** To a worker that has followed until now. */
  #sendReload(slot: WorkerSlot): void {
    this.#feed.flushAndReset();
    const { config, clock, sequence } = this.#context.fullState();
    slot.process?.send({ kind: "reload", config, clock, sequence });
  }

  #fullState(): FullState {
    if (this.#relay === null) throw new Error("Cannot send the state to a worker: the relay must be open");
    return { ...this.#context.fullState(), relay: this.#relay.address };
  }

  #handle(slot: WorkerSlot, message: FromWorker, socket: SendHandle): void {
    if (message.kind === "opened") {
      this.#sockets.add(message.key, socket);
      slot.keys.add(message.key);
    } else if (message.kind === "out_of_sync") {
      this.#context.log.error({ worker: slot.number }, "worker out of sync; sending it the full state");
      this.#sendFullState(slot);
    } else tellReport(message, slot.number, this.#context);
  }
}
