import type { SendHandle } from "node:child_process";
import { Clock, originOfClock } from "../clock.ts";
import type { Config, ListenerConfig } from "../config/config.ts";
import type { Evidence } from "../front/answer.ts";
import { DoorError, Doors, type Prepared } from "../front/doors.ts";
import { exporterPageOf, isReload } from "../front/exporter-paths.ts";
import { ExporterRoles } from "../front/exporter-roles.ts";
import type { Handler } from "../front/listener.ts";
import { nodeHandler } from "../front/node-handler.ts";
import { operatorPageOf } from "../front/operator-paths.ts";
import { paged, scrapesMax } from "../front/page.ts";
import { PageGate } from "../front/page-gate.ts";
import type { HandedOver } from "../front/passage.ts";
import type { Request } from "../front/request.ts";
import { Tally } from "../front/tally.ts";
import { relay } from "../gateway/relay.ts";
import { isBlindEverywhere } from "../readiness.ts";
import { Store } from "../store.ts";
import { settingsOf } from "../tend.ts";
import { ChangeReader } from "./change-feed.ts";
import { DoorEvents } from "./door-events.ts";
import type { Phase, PreparedInWorker, RelayPlace, SentProblem, Standing, ToFirst, ToWorker } from "./messages.ts";

/** Sends to the first process. */
export type SendToFirst = (message: ToFirst, socket?: SendHandle) => void;

/** What answers are made from in a worker: a copy of the first process's snapshot, and its clock. */
interface Copy {
  readonly store: Store;
  readonly clock: Clock;
  readonly config: Config;
  readonly relay: RelayPlace;
}

/** How often the clock is looked at, in ms. */
const beatMs = 1_000;

/** A worker: answers checks from its copy of the snapshot, which it keeps by recording what the first process records. */
export class Follower {
  readonly #send: SendToFirst;
  readonly #doors: Doors;
  readonly #events: DoorEvents;
  readonly #sockets = new Map<string, SendHandle>();
  readonly #tally = new Tally();
  readonly #gate = new PageGate();
  readonly #changes = new ChangeReader();
  readonly #beat: NodeJS.Timeout;
  #copy: Copy | null = null;
  #phase: Phase = "starting";
  #prepared: Prepared | null = null;

  constructor(send: SendToFirst) {
    this.#send = send;
    this.#events = new DoorEvents((event) => send({ kind: "event", event }));
    this.#doors = new Doors({
      handlerFor: (listener, key) => this.#handlerFor(listener, key),
      eventsOf: (listener) => this.#events.of(listener),
      placeOf: (key) => (this.#sockets.has(key) ? { handle: this.#sockets.get(key) } : undefined),
      onOpened: (key, socket) => {
        if (!this.#sockets.has(key)) send({ kind: "opened", key }, socket);
        this.#sockets.delete(key);
      },
    });
    this.#beat = setInterval(() => {
      this.#copy?.clock.beat();
      this.#report();
    }, beatMs);
  }

  /** Does what the first process says. */
  async take(message: ToWorker, socket: SendHandle): Promise<void> {
    switch (message.kind) {
      case "socket":
        this.#sockets.set(message.key, socket);
        break;
      case "prepare":
        this.#send({ kind: "prepared", prepared: await this.#prepare(message) });
        break;
      case "commit":
        this.#stand(message.standing);
        // What is told next must not wait until doors that are gone have closed.
        void this.#commit();
        break;
      case "abandon":
        await this.#abandon();
        break;
      case "changes":
        this.#record(message);
        break;
      case "phase":
        this.#phase = message.phase;
        this.#copy?.clock.follow(message.clock);
        break;
      case "report":
        this.#report();
        break;
      case "close":
        await this.close();
    }
  }

  /** Closes its doors; answers under way are finished. */
  async close(): Promise<void> {
    clearInterval(this.#beat);
    this.#events.close();
    await this.#doors.close();
    this.#report();
  }

  async #prepare({ listen, standing }: Extract<ToWorker, { kind: "prepare" }>): Promise<PreparedInWorker> {
    try {
      await this.#abandon();
      if (standing !== null) this.#stand(standing);
      const prepared = await this.#doors.prepare(listen, standing !== null);
      this.#prepared = prepared;
      return { doors: prepared.doors };
    } catch (error) {
      if (!(error instanceof DoorError)) throw error;
      return { problem: problemOf(error) };
    }
  }

  async #commit(): Promise<void> {
    const prepared = this.#prepared;
    this.#prepared = null;
    await prepared?.commit();
  }

  async #abandon(): Promise<void> {
    const prepared = this.#prepared;
    this.#prepared = null;
    await prepared?.abandon();
  }

  /** Takes the whole: the snapshot, the configuration, and the clock that both go by. */
  #stand({ config, instance, sequence, parts, phase, clock: reading, originMs, relay: place }: Standing): void {
    const tended = config.clusters.flatMap((cluster, at) => {
      const part = parts[at];
      return part === undefined ? [] : [{ part, settings: settingsOf(cluster, config.probe) }];
    });
    const clock = this.#copy?.clock ?? clockOn(originMs);
    clock.follow(reading);
    this.#copy = { store: new Store(instance, tended, sequence), clock, config, relay: place };
    this.#phase = phase;
    this.#changes.beginAnew();
  }

  #record({ changes, clock }: Extract<ToWorker, { kind: "changes" }>): void {
    if (this.#copy === null) return;
    const { store } = this.#copy;
    this.#copy.clock.follow(clock);
    for (const { outcome: sent, nowMs, sequence } of changes) {
      const outcome = this.#changes.read(sent);
      if (outcome !== undefined) store.record(outcome, nowMs);
      if (store.current.sequence === sequence) continue;
      this.#send({ kind: "lost" });
      return;
    }
  }

  #handlerFor(listener: ListenerConfig, key: string): Handler {
    const copy = (): Copy => requireCopy(this.#copy);
    const { config } = copy();
    const settings = (cluster: string): ReturnType<Store["settings"]> => copy().store.settings(cluster);
    const unready = (): string | null => this.#unready(copy());
    const evidence = (): Evidence => ({ snapshot: copy().store.current, settings, nowMs: copy().clock.now(), unready });
    const onAnswer = (route: string, status: number): void => this.#tally.count(route, status);
    const take: HandedOver["take"] = (passed) => relay(passed, { ...copy().relay, listener: key });
    const handOver: HandedOver = { take };
    // The main process renders pages: it is not to be flooded by way of its workers.
    const handOverPage = (name: string, atOnce: number): HandedOver =>
      paged({ gate: this.#gate, name, atOnce, render: ({ passed }) => take(passed).then(() => null) });
    if (listener.dialect === "exporter") {
      const roles = new ExporterRoles({ cluster: listener.cluster ?? "", node: listener.node }, { evidence, onAnswer });
      const handler = (request: Request): ReturnType<Handler> => {
        const reply = roles.answer(request);
        if (reply !== null) return reply;
        const page = exporterPageOf(request.target, config.exporter.telemetryPath);
        return page === null ? handOver : handOverPage(`exporter ${page}`, page === "metrics" ? scrapesMax : 1);
      };
      return Object.assign(handler, { changes: ({ target }: Request) => isReload(target, config.exporter.telemetryPath) });
    }
    return nodeHandler(listener, config, {
      evidence,
      snapshot: () => copy().store.current,
      now: () => copy().clock.now(),
      operator: ({ target }) => handOverPage(operatorPageOf(target), 1),
      passage: { manage: (_, passed) => handOver.take(passed), fetch: (_, passed) => handOver.take(passed) },
      onAnswer,
    });
  }

  #unready({ store, clock }: Copy): string | null {
    if (this.#phase !== "serving") return this.#phase;
    return isBlindEverywhere(store, clock.now()) ? "blind" : null;
  }

  #report(): void {
    const { user, system } = process.cpuUsage();
    const report = { answers: [...this.#tally.rows()], cpuS: (user + system) / 1e6, residentBytes: process.memoryUsage.rss() };
    this.#send({ kind: "report", report });
  }
}

/**
 * A clock on the first process's axis: both count the machine's monotonic time. A loop that turned late is no gap here: what
 * happened meanwhile is told in messages that are still to be read, each with its own instants.
 * @param originMs where the first process's clock began, in ms of the machine's
 */
function clockOn(originMs: number): Clock {
  const offsetMs = originOfClock() - originMs;
  return new Clock({ beatMs: Infinity, onGap: () => {}, monotonic: () => performance.now() + offsetMs });
}

function requireCopy(copy: Copy | null): Copy {
  if (copy === null) throw new Error("Cannot answer as the first process must have said from what: it has not");
  return copy;
}

function problemOf({ listener, cause }: DoorError): SentProblem {
  const { code = null, syscall = null, message } = cause;
  return { listener, code, syscall, message };
}
