import type { SendHandle } from "node:child_process";
import type { ProbeOutcome } from "../cluster/outcome.ts";
import type { ListenerConfig } from "../config/model/config.ts";
import { ListenError } from "../http/listener/listen-error.ts";
import { keysOf } from "../http/listener/listener-keys.ts";
import type { OpenListener, PreparedListeners } from "../http/listener/listener-set.ts";
import type { FastPathCounts } from "../http/message/fast-path-counts.ts";
import type { RequestHandler } from "../http/message/handler.ts";
import type { ListenerEvents } from "../http/listener/listener-events.ts";
import { closeBareSocket } from "../http/listener/bind-target.ts";
import type { Logger } from "../events/logger.ts";
import { OutcomeFeed } from "./outcome-feed.ts";
import { WorkerStats } from "./worker-stats.ts";
import { tellEvent } from "./listener-events.ts";
import type { Phase, RelayAddress, FullState, FromWorker, WorkerReport } from "./messages.ts";
import { WorkerSlot } from "./worker-slot.ts";
import { RelayServer } from "./relay-server.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** What a crew is wired to. */
export interface WorkerPoolContext {
  readonly log: Logger;
  /** All that a worker answers from, as it is now. */
  readonly fullState: () => Omit<FullState, "relay">;
  readonly eventsOf: (listener: ListenerConfig) => ListenerEvents;
  /** Called with what only a worker's last resort caught. */
  readonly onContained: (problem: string) => void;
  /** Answers what a worker passes on. */
  readonly answererFor: (listener: ListenerConfig) => RequestHandler;
  /** Sockets that listen already, by the key of their listener. */
  readonly sockets: ReadonlyMap<string, SendHandle>;
}

/** How often workers are looked after, in ms, and after how many turns without a word one is given up. */
const watchMs = 1_000;
const silentMax = 15;
/** How long a fresh report is waited for, in ms. */
const reportMs = 250;

/**
 * The workers: processes that answer at the health listeners, while this one asks the nodes. The sockets are held here too, so that a
 * worker that ends leaves nobody refused: who comes meanwhile waits for its successor.
 */
export class WorkerPool {
  readonly #context: WorkerPoolContext;
  readonly #posts: readonly WorkerSlot[];
  readonly #sockets: Map<string, SendHandle>;
  readonly #relayDoor = new RelayServer();
  readonly #reports = new WorkerStats();
  readonly #feed: OutcomeFeed;
  #relay: RelayAddress = { port: 0, secret: "" };
  /** What is listened on; `null` before the first time. */
  #listen: readonly ListenerConfig[] | null = null;
  #listeners: readonly OpenListener[] = [];
  #watch: NodeJS.Timeout | null = null;

  constructor(count: number, context: WorkerPoolContext) {
    this.#context = context;
    this.#sockets = new Map(context.sockets);
    const wires = {
      log: context.log,
      bring: (slot: WorkerSlot) => this.#bring(slot),
      onMessage: (post: WorkerSlot, message: FromWorker, socket: SendHandle) => this.#hear(post, message, socket),
      onLost: (worker: WorkerProcess) => this.#reports.addExited(worker.report),
    };
    this.#posts = Array.from({ length: count }, (_, number) => new WorkerSlot(number, wires));
    this.#feed = new OutcomeFeed((changes) => {
      const { clock } = context.fullState();
      for (const worker of this.#workers()) worker.tell({ kind: "changes", changes, clock });
    });
  }

  /** The doors that the workers have open. */
  get listeners(): readonly OpenListener[] {
    return this.#listeners;
  }

  /** Starts the workers. They answer nothing yet. */
  async start(): Promise<void> {
    this.#relay = await this.#relayDoor.open();
    this.#watch = setInterval(() => this.#lookAfter(), watchMs);
    await Promise.all(this.#posts.map((slot) => slot.spawn()));
  }

  /** Passes on what changed the snapshot. */
  record(outcome: ProbeOutcome, nowMs: number, sequence: number): void {
    this.#feed.take(outcome, nowMs, sequence);
    // An operator's word is in force when it is answered.
    if (outcome.kind === "drain") this.#feed.flush();
  }

  /** Sends what is waiting to be passed on: what comes now is another whole. */
  settle(): void {
    this.#feed.flush();
  }

  setPhase(phase: Phase): void {
    const { clock } = this.#context.fullState();
    for (const worker of this.#workers()) worker.tell({ kind: "phase", phase, clock });
  }

  /** Has every worker say anew what it has done. */
  async refreshReports(): Promise<void> {
    await Promise.all(this.#workers().map((worker) => worker.refreshReport(reportMs)));
  }

  /** What the workers answered so far; a route and status may come more than once. */
  answers(): WorkerReport["answers"] {
    return this.#reports.answers(this.#workers().map(({ report }) => report));
  }

  /** What the fast path of each worker did. */
  fastPathCounts(): readonly FastPathCounts[] {
    return this.#reports.fastPathCounts(this.#workers().map(({ report }) => report));
  }

  /** What they used of the machine, how many there are, and how many ended that were not told to. */
  usage(): { readonly cpuS: number; readonly residentBytes: number; readonly count: number; readonly lost: number } {
    const workers = this.#workers();
    return {
      ...this.#reports.usage(workers.map(({ report }) => report)),
      count: workers.length,
      lost: this.#reports.lost,
    };
  }

  /**
   * Makes every worker ready to have these doors open, and no others.
   * @throws DoorError where one cannot be opened; then all is as it was
   */
  async prepare(listen: readonly ListenerConfig[]): Promise<PreparedListeners> {
    const ready = this.#posts.filter(({ worker }) => worker !== null);
    let listeners: readonly OpenListener[] = [];
    try {
      if (ready.length === 0) throw new Error("Cannot listen as there must be a worker to do it: none has started");
      for (const slot of ready) listeners = await this.#prepareOne(slot, listen, null);
    } catch (error) {
      this.#abandon(ready);
      throw error;
    }
    return {
      listeners,
      commit: async () => this.#commit(ready, listen, listeners),
      abandon: async () => this.#abandon(ready),
    };
  }

  /** Ends all workers, which finish what they are answering. */
  async stop(): Promise<void> {
    if (this.#watch !== null) clearInterval(this.#watch);
    await Promise.all(this.#posts.map((slot) => slot.stop()));
    this.#relayDoor.close();
    this.#keepSockets([]);
  }

  #workers(): readonly WorkerProcess[] {
    return this.#posts.flatMap(({ worker }) => worker ?? []);
  }

  /** Has one worker open doors: with the sockets that are open already, and its own for those that are not. */
  async #prepareOne(
    slot: WorkerSlot,
    listen: readonly ListenerConfig[],
    fullState: FullState | null,
  ): Promise<readonly OpenListener[]> {
    const worker = slot.process;
    if (worker === null) throw new Error("Cannot listen as the worker that was to do it must be there: it ended");
    for (const key of keysOf(listen)) {
      const socket = this.#sockets.get(key);
      if (socket === undefined || slot.keys.has(key)) continue;
      worker.tell({ kind: "socket", key }, socket);
      slot.keys.add(key);
    }
    const prepared = await worker.prepare(listen, fullState);
    if ("listeners" in prepared) return prepared.listeners;
    const { listener, code, syscall, message } = prepared.problem;
    const cause = { ...(code === null ? {} : { code }), ...(syscall === null ? {} : { syscall }) };
    throw new ListenError(listener, Object.assign(new Error(message), cause));
  }

  #commit(ready: readonly WorkerSlot[], listen: readonly ListenerConfig[], listeners: readonly OpenListener[]): void {
    this.#listen = listen;
    this.#listeners = listeners;
    const { answererFor, eventsOf } = this.#context;
    this.#relayDoor.answerFor(
      new Map(
        listeners.map(({ key, config }) => [key, { config, answerer: answererFor(config), events: eventsOf(config) }]),
      ),
    );
    for (const slot of ready) this.#tellWhole(slot);
    // Who came while the doors were being opened knows only the old ones.
    for (const post of this.#posts) if (post.worker !== null && !ready.includes(post)) void post.resync();
    this.#keepSockets(listeners);
  }

  #abandon(ready: readonly WorkerSlot[]): void {
    for (const { process } of ready) process?.tell({ kind: "abandon" });
    this.#keepSockets(this.#listeners);
  }

  #keepSockets(listeners: readonly OpenListener[]): void {
    const kept = new Set(listeners.map(({ key }) => key));
    for (const [key, socket] of this.#sockets) {
      if (kept.has(key)) continue;
      closeBareSocket(socket);
      this.#sockets.delete(key);
    }
    for (const slot of this.#posts) for (const key of slot.keys) if (!kept.has(key)) slot.keys.delete(key);
  }

  /** Makes a worker answer like the others. Before the first doors are open there is nothing to answer. */
  async #bring(slot: WorkerSlot): Promise<void> {
    for (let listen = this.#listen; listen !== null;) {
      await this.#prepareOne(slot, listen, this.#whole());
      if (listen === this.#listen) {
        this.#tellWhole(slot);
        return;
      }
      listen = this.#listen;
    }
  }

  #tellWhole(slot: WorkerSlot): void {
    this.#feed.resetCompression();
    slot.process?.tell({ kind: "commit", fullState: this.#whole() });
  }

  #whole(): FullState {
    return { ...this.#context.fullState(), relay: this.#relay };
  }

  #hear(slot: WorkerSlot, message: FromWorker, socket: SendHandle): void {
    switch (message.kind) {
      case "opened":
        this.#sockets.set(message.key, socket);
        slot.keys.add(message.key);
        break;
      case "lost":
        this.#context.log.error({ worker: slot.number }, "a worker's snapshot was not ours: it is told the whole");
        this.#tellWhole(slot);
        break;
      case "event":
        tellEvent(message.event, this.#context.eventsOf(message.event.listener), slot.number);
        break;
      case "fast_path_off":
        this.#context.log.warn(
          { node: process.version, worker: slot.number, reason: message.reason },
          "fast path off",
        );
        break;
      case "contained":
        this.#context.onContained(message.problem);
        break;
      case "crashed":
        this.#context.log.error({ worker: slot.number, problem: message.problem }, "a worker made a mistake and ends");
        break;
      case "ready":
      case "prepared":
      case "report":
    }
  }

  /** A worker that hangs is ended: its successor answers. */
  #lookAfter(): void {
    for (const worker of this.#workers()) {
      worker.silentFor += 1;
      if (worker.silentFor <= silentMax) continue;
      this.#context.log.error({ pid: worker.pid, silent_s: silentMax }, "a worker hangs and is killed");
      worker.kill();
    }
  }
}
