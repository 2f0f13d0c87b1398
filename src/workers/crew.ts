import type { SendHandle } from "node:child_process";
import type { Outcome } from "../cluster/outcome.ts";
import type { ListenerConfig } from "../config/config.ts";
import { DoorError, keysOf, type Door, type Prepared } from "../front/doors.ts";
import type { Answerer } from "../front/exchange.ts";
import type { ListenerEvents } from "../front/listener.ts";
import { closeBareSocket } from "../front/place.ts";
import type { Logger } from "../log.ts";
import { ChangeFeed } from "./change-feed.ts";
import { CrewReports } from "./crew-reports.ts";
import { tellEvent } from "./door-events.ts";
import type { Phase, RelayPlace, Standing, ToFirst, WorkerReport } from "./messages.ts";
import { Post } from "./post.ts";
import { RelayDoor } from "./relay-door.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** What a crew is wired to. */
export interface CrewContext {
  readonly log: Logger;
  /** All that a worker answers from, as it is now. */
  readonly standing: () => Omit<Standing, "relay">;
  readonly eventsOf: (listener: ListenerConfig) => ListenerEvents;
  /** Called with what only a worker's last resort caught. */
  readonly onContained: (problem: string) => void;
  /** Answers what a worker passes on. */
  readonly answererFor: (listener: ListenerConfig) => Answerer;
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
export class Crew {
  readonly #context: CrewContext;
  readonly #posts: readonly Post[];
  readonly #sockets: Map<string, SendHandle>;
  readonly #relayDoor = new RelayDoor();
  readonly #reports = new CrewReports();
  readonly #feed: ChangeFeed;
  #relay: RelayPlace = { port: 0, secret: "" };
  /** What is listened on; `null` before the first time. */
  #listen: readonly ListenerConfig[] | null = null;
  #doors: readonly Door[] = [];
  #watch: NodeJS.Timeout | null = null;

  constructor(count: number, context: CrewContext) {
    this.#context = context;
    this.#sockets = new Map(context.sockets);
    const wires = {
      log: context.log,
      bring: (post: Post) => this.#bring(post),
      onMessage: (post: Post, message: ToFirst, socket: SendHandle) => this.#hear(post, message, socket),
      onLost: (worker: WorkerProcess) => this.#reports.bury(worker.report),
    };
    this.#posts = Array.from({ length: count }, (_, number) => new Post(number, wires));
    this.#feed = new ChangeFeed((changes) => {
      const { clock } = context.standing();
      for (const worker of this.#workers()) worker.tell({ kind: "changes", changes, clock });
    });
  }

  /** The doors that the workers have open. */
  get doors(): readonly Door[] {
    return this.#doors;
  }

  /** Starts the workers. They answer nothing yet. */
  async start(): Promise<void> {
    this.#relay = await this.#relayDoor.open();
    this.#watch = setInterval(() => this.#lookAfter(), watchMs);
    await Promise.all(this.#posts.map((post) => post.fill()));
  }

  /** Passes on what changed the snapshot. */
  record(outcome: Outcome, nowMs: number, sequence: number): void {
    this.#feed.take(outcome, nowMs, sequence);
    // An operator's word is in force when it is answered.
    if (outcome.kind === "drain") this.#feed.flush();
  }

  /** Sends what is waiting to be passed on: what comes now is another whole. */
  settle(): void {
    this.#feed.flush();
  }

  tellPhase(phase: Phase): void {
    const { clock } = this.#context.standing();
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

  /** What they used of the machine, how many there are, and how many ended that were not told to. */
  usage(): { readonly cpuS: number; readonly residentBytes: number; readonly count: number; readonly lost: number } {
    const workers = this.#workers();
    return { ...this.#reports.usage(workers.map(({ report }) => report)), count: workers.length, lost: this.#reports.lost };
  }

  /**
   * Makes every worker ready to have these doors open, and no others.
   * @throws DoorError where one cannot be opened; then all is as it was
   */
  async prepare(listen: readonly ListenerConfig[]): Promise<Prepared> {
    const ready = this.#posts.filter(({ worker }) => worker !== null);
    let doors: readonly Door[] = [];
    try {
      if (ready.length === 0) throw new Error("Cannot listen as there must be a worker to do it: none has started");
      for (const post of ready) doors = await this.#prepareOne(post, listen, null);
    } catch (error) {
      this.#abandon(ready);
      throw error;
    }
    return {
      doors,
      commit: async () => this.#commit(ready, listen, doors),
      abandon: async () => this.#abandon(ready),
    };
  }

  /** Ends all workers, which finish what they are answering. */
  async stop(): Promise<void> {
    if (this.#watch !== null) clearInterval(this.#watch);
    await Promise.all(this.#posts.map((post) => post.stop()));
    this.#relayDoor.close();
    this.#keepSockets([]);
  }

  #workers(): readonly WorkerProcess[] {
    return this.#posts.flatMap(({ worker }) => worker ?? []);
  }

  /** Has one worker open doors: with the sockets that are open already, and its own for those that are not. */
  async #prepareOne(post: Post, listen: readonly ListenerConfig[], standing: Standing | null): Promise<readonly Door[]> {
    const worker = post.process;
    if (worker === null) throw new Error("Cannot listen as the worker that was to do it must be there: it ended");
    for (const key of keysOf(listen)) {
      const socket = this.#sockets.get(key);
      if (socket === undefined || post.keys.has(key)) continue;
      worker.tell({ kind: "socket", key }, socket);
      post.keys.add(key);
    }
    const prepared = await worker.prepare(listen, standing);
    if ("doors" in prepared) return prepared.doors;
    const { listener, code, syscall, message } = prepared.problem;
    const cause = { ...(code === null ? {} : { code }), ...(syscall === null ? {} : { syscall }) };
    throw new DoorError(listener, Object.assign(new Error(message), cause));
  }

  #commit(ready: readonly Post[], listen: readonly ListenerConfig[], doors: readonly Door[]): void {
    this.#listen = listen;
    this.#doors = doors;
    const { answererFor, eventsOf } = this.#context;
    this.#relayDoor.answerFor(
      new Map(doors.map(({ key, config }) => [key, { config, answerer: answererFor(config), events: eventsOf(config) }])),
    );
    for (const post of ready) this.#tellWhole(post);
    // Who came while the doors were being opened knows only the old ones.
    for (const post of this.#posts) if (post.worker !== null && !ready.includes(post)) void post.bringAnew();
    this.#keepSockets(doors);
  }

  #abandon(ready: readonly Post[]): void {
    for (const { process } of ready) process?.tell({ kind: "abandon" });
    this.#keepSockets(this.#doors);
  }

  #keepSockets(doors: readonly Door[]): void {
    const kept = new Set(doors.map(({ key }) => key));
    for (const [key, socket] of this.#sockets) {
      if (kept.has(key)) continue;
      closeBareSocket(socket);
      this.#sockets.delete(key);
    }
    for (const post of this.#posts) for (const key of post.keys) if (!kept.has(key)) post.keys.delete(key);
  }

  /** Makes a worker answer like the others. Before the first doors are open there is nothing to answer. */
  async #bring(post: Post): Promise<void> {
    for (let listen = this.#listen; listen !== null;) {
      await this.#prepareOne(post, listen, this.#whole());
      if (listen === this.#listen) {
        this.#tellWhole(post);
        return;
      }
      listen = this.#listen;
    }
  }

  #tellWhole(post: Post): void {
    this.#feed.beginAnew();
    post.process?.tell({ kind: "commit", standing: this.#whole() });
  }

  #whole(): Standing {
    return { ...this.#context.standing(), relay: this.#relay };
  }

  #hear(post: Post, message: ToFirst, socket: SendHandle): void {
    switch (message.kind) {
      case "opened":
        this.#sockets.set(message.key, socket);
        post.keys.add(message.key);
        break;
      case "lost":
        this.#context.log.error({ worker: post.number }, "a worker's snapshot was not ours: it is told the whole");
        this.#tellWhole(post);
        break;
      case "event":
        tellEvent(message.event, this.#context.eventsOf(message.event.listener), post.number);
        break;
      case "contained":
        this.#context.onContained(message.problem);
        break;
      case "crashed":
        this.#context.log.error({ worker: post.number, problem: message.problem }, "a worker made a mistake and ends");
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
