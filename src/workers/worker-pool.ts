import type { SendHandle } from "node:child_process";
import type { ProbeOutcome } from "../cluster/outcome.ts";
import type { ListenerConfig } from "../config/model/config.ts";
import type { BindTarget } from "../http/listener/bind-target.ts";
import type { ListenerSet, OpenListener, PreparedListeners } from "../http/listener/listener-set.ts";
import type { FastPathCounts } from "../http/message/fast-path-counts.ts";
import type { RequestHandler } from "../http/message/handler.ts";
import type { FromWorker, FullState, Phase, RelayAddress, WorkerReport } from "./messages.ts";
import { OutcomeFeed } from "./outcome-feed.ts";
import { RelayServer } from "./relay-server.ts";
import { type PreparedWorkers, prepareSlot, prepareSlots } from "./prepare-slots.ts";
import { SharedSockets } from "./shared-sockets.ts";
import { StandIn } from "./stand-in.ts";
import type { WorkerProcess } from "./worker-process.ts";
import { WorkerSlot } from "./worker-slot.ts";
import { WorkerStats, type WorkerUsage } from "./worker-stats.ts";
import type { Logger } from "../log/logger.ts";
import type { ListenerEvents } from "../http/listener/listener-events.ts";
import { replayEvent } from "./listener-events.ts";
import { readFileSync } from "node:fs";
import { LimitedLines } from "../log/limited-lines.ts";

/** What a worker pool depends on. */
export interface WorkerPoolContext extends WorkerReportsContext {
  /** What a worker answers from, as it is now. */
  readonly fullState: () => Omit<FullState, "relay">;
  /** Gives the handler of requests that a worker relays. */
  readonly handlerFor: (listener: ListenerConfig) => RequestHandler;
  /** Creates listeners of the main process on sockets that listen already, by the key of their listener. */
  readonly listenersOn: (socketOf: (key: string) => BindTarget) => ListenerSet;
}

/** How long to wait for a fresh report, in ms. */
const reportTimeoutMs = 250;

/** The workers: processes that answer at the health listeners while the main process probes the nodes. */
export class WorkerPool {
  readonly #context: WorkerPoolContext;
  readonly #slots: readonly WorkerSlot[];
  readonly #sockets = new SharedSockets();
  readonly #relayServer = new RelayServer();
  readonly #stats = new WorkerStats();
  readonly #feed: OutcomeFeed;
  readonly #heartbeats: HeartbeatMonitor;
  readonly #stopped: StoppedWorkers;
  readonly #standIn: StandIn;
  #relay: RelayAddress = { port: 0, secret: "" };
  /** The listeners of the workers as configured; `null` before they are opened for the first time. */
  #configured: readonly ListenerConfig[] | null = null;
  #listeners: readonly OpenListener[] = [];
  #isStopped = false;

  constructor(count: number, context: WorkerPoolContext) {
    this.#context = context;
    const slotContext = {
      log: context.log,
      bringUp: (slot: WorkerSlot) => this.#bringUp(slot),
      onMessage: (slot: WorkerSlot, message: FromWorker, socket: SendHandle) => this.#handle(slot, message, socket),
      onLost: (worker: WorkerProcess) => this.#stats.addExited(worker.report),
      onReadiness: () => this.#reviewStandIn(),
    };
    this.#slots = Array.from({ length: count }, (_, number) => new WorkerSlot(number, slotContext));
    this.#heartbeats = new HeartbeatMonitor(() => this.#workers(), context.log);
    const processes = (): readonly WorkerProcess[] => this.#slots.flatMap(({ process: worker }) => worker ?? []);
    this.#stopped = new StoppedWorkers(processes, context.log);
    const listeners = context.listenersOn((key) => this.#sockets.takeSpare(key));
    this.#standIn = new StandIn({ log: context.log, listeners });
    this.#feed = new OutcomeFeed((changes) => {
      const { clock } = context.fullState();
      for (const worker of this.#workers()) worker.send({ kind: "changes", changes, clock });
    });
  }

  /** The listeners that the workers have open. */
  get listeners(): readonly OpenListener[] {
    return this.#listeners;
  }

  /** Takes a socket that listens already, for the listener with this key. */
  adoptSocket(key: string, socket: SendHandle): void {
    this.#sockets.add(key, socket);
  }

  /** Starts the workers. They answer nothing yet. */
  async start(): Promise<void> {
    this.#relay = await this.#relayServer.open();
    if (this.#isStopped) return this.#relayServer.close();
    this.#heartbeats.start();
    this.#stopped.start();
    await Promise.all(this.#slots.map((slot) => slot.spawn()));
  }

  /** Passes an outcome that changed the snapshot on to the workers. */
  record(outcome: ProbeOutcome, nowMs: number, sequence: number): void {
    this.#feed.add(outcome, nowMs, sequence);
    // A drain must be in force when the operator's request is answered.
    if (outcome.kind === "drain") this.#feed.flush();
  }

  /** Sends pending outcomes now: the next ones belong to another full state. */
  flush(): void {
    this.#feed.flush();
  }

  setPhase(phase: Phase): void {
    const { clock } = this.#context.fullState();
    for (const worker of this.#workers()) worker.send({ kind: "phase", phase, clock });
  }

  /** Gets a fresh report from every worker that answers in time. */
  async refreshReports(): Promise<void> {
    await Promise.all(this.#workers().map((worker) => worker.refreshReport(reportTimeoutMs)));
  }

  /** What the workers answered so far. A route and status may occur more than once. */
  answers(): WorkerReport["answers"] {
    return this.#stats.answers(this.reports());
  }

  /** What the fast path did in each worker. */
  fastPathCounts(): readonly FastPathCounts[] {
    return this.#stats.fastPathCounts(this.reports());
  }

  /** What the workers used of the machine, how many there are, and how many exited unexpectedly. */
  usage(): WorkerUsage {
    return this.#stats.usage(this.reports());
  }

  /**
   * Prepares every worker to have exactly these listeners open. One that ends or hangs meanwhile is replaced.
   * @throws ListenError if a listener cannot be opened, and WorkerError if no worker replies; nothing has changed then
   */
  async prepare(configs: readonly ListenerConfig[]): Promise<PreparedListeners> {
    let prepared: PreparedWorkers;
    try {
      prepared = await prepareSlots(this.#slots, this.#sockets, configs);
    } catch (error) {
      this.#abandon();
      throw error;
    }
    const { listeners, workers } = prepared;
    return {
      listeners,
      commit: async () => {
        this.#configured = configs;
        this.#listeners = listeners;
        this.#commit(workers);
      },
      abandon: async () => this.#abandon(),
    };
  }

  /** Ends all workers. They finish the answers in flight. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#heartbeats.stop();
    this.#stopped.stop();
    await Promise.all([this.#standIn.close(), ...this.#slots.map((slot) => slot.stop())]);
    this.#relayServer.close();
    this.#retainSockets([]);
  }

  /** Ends all workers at once, in whatever state they are. */
  kill(): void {
    for (const { process: worker } of this.#slots) worker?.kill();
  }

  /** What the running workers reported last. */
  reports(): readonly WorkerReport[] {
    return this.#workers().map(({ report }) => report);
  }

  /** The workers that answer. */
  #workers(): readonly WorkerProcess[] {
    return this.#slots.flatMap(({ worker }) => worker ?? []);
  }

  #commit(prepared: PreparedWorkers["workers"]): void {
    const { handlerFor, eventsOf } = this.#context;
    const relayed = this.#listeners.map(
      ({ key, config }) => [key, { config, handler: handlerFor(config), events: eventsOf(config) }] as const,
    );
    this.#relayServer.answerFor(new Map(relayed));
    for (const slot of this.#slots) {
      if (slot.worker === null) continue;
      if (prepared.has(slot.worker)) this.#sendFullState(slot);
      // A worker that started meanwhile knows only the old listeners.
      else void slot.resync();
    }
    this.#retainSockets(this.#listeners);
    this.#reviewStandIn();
  }

  /** While no worker answers, the main process does. */
  #reviewStandIn(): void {
    if (this.#configured === null || this.#isStopped) return;
    if (this.#workers().length === 0) this.#standIn.answerAt(this.#configured);
    else this.#standIn.rest();
  }

  #abandon(): void {
    for (const { worker } of this.#slots) worker?.send({ kind: "abandon" });
    this.#retainSockets(this.#listeners);
  }

  #retainSockets(listeners: readonly OpenListener[]): void {
    const keys = new Set(listeners.map(({ key }) => key));
    this.#sockets.retain(keys);
    for (const slot of this.#slots) for (const key of slot.keys) if (!keys.has(key)) slot.keys.delete(key);
  }

  /** Makes a new worker answer like the others. Before the first listeners are open there is nothing to answer. */
  async #bringUp(slot: WorkerSlot): Promise<void> {
    while (this.#configured !== null) {
      const configs = this.#configured;
      await prepareSlot(slot, this.#sockets, { configs, fullState: this.#fullState() });
      // The configuration may have changed while the worker opened its listeners.
      if (configs !== this.#configured) continue;
      this.#sendFullState(slot);
      return;
    }
  }

  #sendFullState(slot: WorkerSlot): void {
    this.#feed.flushAndReset();
    slot.process?.send({ kind: "commit", fullState: this.#fullState() });
  }

  #fullState(): FullState {
    return { ...this.#context.fullState(), relay: this.#relay };
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

/** How often heartbeats are counted, in ms. A worker sends a report once a second. */
const heartbeatMs = 1_000;
/** A worker that misses more heartbeats than this in a row hangs. */
const missedHeartbeatsMax = 15;

/** Kills workers that hang: their successors answer. */
class HeartbeatMonitor {
  readonly #workers: () => readonly WorkerProcess[];
  readonly #log: Logger;
  #timer: NodeJS.Timeout | null = null;

  constructor(workers: () => readonly WorkerProcess[], log: Logger) {
    this.#workers = workers;
    this.#log = log;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#count(), heartbeatMs);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  #count(): void {
    for (const worker of this.#workers()) {
      worker.missedHeartbeats += 1;
      if (worker.missedHeartbeats <= missedHeartbeatsMax) continue;
      this.#log.error({ pid: worker.pid, silent_s: missedHeartbeatsMax }, "worker hangs and is killed");
      worker.kill();
    }
  }
}

/** Where the main process tells what a worker reports of itself. */
interface WorkerReportsContext {
  readonly log: Logger;
  readonly eventsOf: (listener: ListenerConfig) => ListenerEvents;
  /** Called with an error that only the process-wide handler of a worker caught. */
  readonly onContained: (problem: string) => void;
}

/** Tells what the worker with this number reports of itself. Does nothing with other messages. */
function tellReport(message: FromWorker, worker: number, context: WorkerReportsContext): void {
  const { log, eventsOf, onContained } = context;
  switch (message.kind) {
    case "event":
      replayEvent(message.event, eventsOf(message.event.listener), worker);
      break;
    case "fast_path_off":
      log.warn({ node: process.version, worker, reason: message.reason }, "fast path off");
      break;
    case "contained":
      onContained(message.problem);
      break;
    case "crashed":
      log.error({ worker, problem: message.problem }, "worker crashed on an internal error");
      break;
    case "opened":
    case "out_of_sync":
    case "ready":
    case "prepared":
    case "report":
  }
}

/** How often workers are examined, in ms. A client of a stopped worker waits that long, and must not wait 250 ms. */
const periodMs = 100;

/**
 * Continues workers that a signal has stopped (SIGSTOP, SIGTSTP). The system gives new connections to the other
 * workers, but the connections that a stopped worker has accepted would wait for {@link HeartbeatMonitor} to kill it.
 * To continue it costs no client its connection. Systems without /proc tell no state: there nothing is continued.
 */
class StoppedWorkers {
  readonly #workers: () => readonly WorkerProcess[];
  readonly #lines: LimitedLines;
  #timer: NodeJS.Timeout | null = null;

  constructor(workers: () => readonly WorkerProcess[], log: Logger) {
    this.#workers = workers;
    this.#lines = new LimitedLines(log, { what: "stopped workers", level: "warn", max: 5, periodMs: 60_000 });
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#examine(), periodMs);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#lines.end();
  }

  #examine(): void {
    for (const worker of this.#workers()) {
      if (!isStopped(worker.pid)) continue;
      worker.continue();
      this.#lines.write({ level: "warn", text: "worker was stopped by a signal and continues" }, () => ({
        pid: worker.pid,
      }));
    }
  }
}

/** Whether a signal has stopped a process: its state in /proc/PID/stat follows the name in parentheses (proc(5)). */
function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.startsWith(" T ", stat.lastIndexOf(")") + 1);
  } catch {
    return false;
  }
}
