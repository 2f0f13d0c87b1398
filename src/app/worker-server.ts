import type { SendHandle } from "node:child_process";
import { Clock, originOfClock } from "../state/clock.ts";
import type { Config, ListenerConfig } from "../config/model/config.ts";
import type { JudgeInputs } from "../http/node-api/answer.ts";
import { ListenError } from "../http/listener/listen-error.ts";
import { ListenerSet, type PreparedListeners } from "../http/listener/listener-set.ts";
import { exporterPageOf, isReload } from "../http/message/exporter-paths.ts";
import { ExporterRoles } from "../http/exporter-api/exporter-roles.ts";
import type { ListenerHandler, RequestHandler } from "../http/message/handler.ts";
import { nodeHandler } from "../http/node-api/node-handler.ts";
import { operatorPageOf } from "../http/node-api/diagnostics-paths.ts";
import { scrapesMax, servePage } from "../http/pages/page.ts";
import { PageGate } from "../http/pages/page-gate.ts";
import type { IncomingCall } from "../http/message/incoming-call.ts";
import type { Request } from "../http/message/request.ts";
import { AnswerCounter } from "../http/message/answer-counter.ts";
import { relay } from "../gateway/relay.ts";
import { isBlindEverywhere } from "../health/evidence/readiness.ts";
import { Store } from "../state/store.ts";
import { settingsOf } from "../state/clusters.ts";
import { OutcomeReader } from "../workers/outcome-feed.ts";
import { ListenerEventFeed } from "../workers/listener-events.ts";
import type {
  Phase,
  PreparedInWorker,
  RelayAddress,
  SentProblem,
  FullState,
  FromWorker,
  ToWorker,
} from "../workers/messages.ts";

/** Sends to the first process. */
export type SendToMain = (message: FromWorker, socket?: SendHandle) => void;

/** What answers are made from in a worker: a copy of the first process's snapshot, and its clock. */
interface Replica {
  readonly store: Store;
  readonly clock: Clock;
  readonly config: Config;
  readonly relay: RelayAddress;
}

/** How often the clock is looked at, in ms. */
const beatMs = 1_000;

/** A worker: answers checks from its copy of the snapshot, which it keeps by recording what the first process records. */
export class WorkerServer {
  readonly #send: SendToMain;
  readonly #listeners: ListenerSet;
  readonly #events: ListenerEventFeed;
  readonly #sockets = new Map<string, SendHandle>();
  readonly #counter = new AnswerCounter();
  readonly #gate = new PageGate();
  readonly #changes = new OutcomeReader();
  readonly #beat: NodeJS.Timeout;
  #replica: Replica | null = null;
  #phase: Phase = "starting";
  #prepared: PreparedListeners | null = null;

  constructor(send: SendToMain) {
    this.#send = send;
    this.#events = new ListenerEventFeed((event) => send({ kind: "event", event }));
    this.#listeners = new ListenerSet({
      handlerFor: (listener, key) => this.#handlerFor(listener, key),
      eventsOf: (listener) => this.#events.of(listener),
      placeOf: (key) => (this.#sockets.has(key) ? { handle: this.#sockets.get(key) } : undefined),
      onOpened: (key, socket) => {
        if (!this.#sockets.has(key)) send({ kind: "opened", key }, socket);
        this.#sockets.delete(key);
      },
      fastPath: {
        mode: () => this.#replica?.config.fastPath ?? false,
        onOff: (reason) => send({ kind: "fast_path_off", reason }),
      },
    });
    this.#beat = setInterval(() => {
      this.#replica?.clock.tick();
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
        this.#stand(message.fullState);
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
        this.#replica?.clock.syncTo(message.clock);
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
    await this.#listeners.close();
    this.#report();
  }

  async #prepare({ listen, fullState }: Extract<ToWorker, { kind: "prepare" }>): Promise<PreparedInWorker> {
    try {
      await this.#abandon();
      if (fullState !== null) this.#stand(fullState);
      const prepared = await this.#listeners.prepare(listen, fullState !== null);
      this.#prepared = prepared;
      return { listeners: prepared.listeners };
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
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
  #stand({
    config,
    instance,
    sequence,
    clusters,
    phase,
    clock: reading,
    originMs,
    relay: relayAddress,
  }: FullState): void {
    const tended = config.clusters.flatMap((cluster, at) => {
      const state = clusters[at];
      return state === undefined ? [] : [{ cluster: state, policy: settingsOf(cluster, config.probe) }];
    });
    const clock = this.#replica?.clock ?? clockOn(originMs);
    clock.syncTo(reading);
    this.#replica = { store: new Store(instance, tended, sequence), clock, config, relay: relayAddress };
    this.#phase = phase;
    this.#changes.resetCompression();
  }

  #record({ changes, clock }: Extract<ToWorker, { kind: "changes" }>): void {
    if (this.#replica === null) return;
    const { store } = this.#replica;
    this.#replica.clock.syncTo(clock);
    for (const { outcome: sent, nowMs, sequence } of changes) {
      const outcome = this.#changes.read(sent);
      if (outcome !== undefined) store.record(outcome, nowMs);
      if (store.current.sequence === sequence) continue;
      this.#send({ kind: "lost" });
      return;
    }
  }

  #handlerFor(listener: ListenerConfig, key: string): ListenerHandler {
    const replica = (): Replica => requireCopy(this.#replica);
    const { config } = replica();
    const policy = (cluster: string): ReturnType<Store["settings"]> => replica().store.settings(cluster);
    const unready = (): string | null => this.#unready(replica());
    const inputs = (): JudgeInputs => ({
      snapshot: replica().store.current,
      policy,
      nowMs: replica().clock.now(),
      unready,
    });
    const onAnswer = (route: string, status: number): void => this.#counter.count(route, status);
    const relayToMain = (call: IncomingCall): Promise<void> => relay(call, { ...replica().relay, listener: key });
    const relayCall: RequestHandler = (call) => relayToMain(call).then(() => null);
    // The main process renders pages: it is not to be flooded by way of its workers.
    const relayPage = (name: string, atOnce: number, call: IncomingCall): Promise<null> =>
      servePage({ gate: this.#gate, name, atOnce, render: () => relayCall(call) }, call);
    if (listener.dialect === "exporter") {
      const roles = new ExporterRoles({ cluster: listener.cluster ?? "", node: listener.node }, { inputs, onAnswer });
      const handler: RequestHandler = async (call) => {
        const reply = roles.answer(call.request);
        if (reply !== null) return reply;
        const page = exporterPageOf(call.request.target, config.exporter.telemetryPath);
        if (page === null) return relayCall(call);
        return relayPage(`exporter ${page}`, page === "metrics" ? scrapesMax : 1, call);
      };
      return Object.assign(handler, {
        changes: ({ target }: Request) => isReload(target, config.exporter.telemetryPath),
      });
    }
    return nodeHandler(listener, config, {
      inputs,
      snapshot: () => replica().store.current,
      now: () => replica().clock.now(),
      operator: (call) => relayPage(operatorPageOf(call.request.target), 1, call),
      passthrough: { manage: (_, call) => relayToMain(call), fetch: (_, call) => relayToMain(call) },
      onAnswer,
    });
  }

  #unready({ store, clock }: Replica): string | null {
    if (this.#phase !== "serving") return this.#phase;
    return isBlindEverywhere(store, clock.now()) ? "blind" : null;
  }

  #report(): void {
    const { user, system } = process.cpuUsage();
    const report = {
      answers: [...this.#counter.rows()],
      fastPath: this.#listeners.fastPathCounts,
      cpuS: (user + system) / 1e6,
      residentBytes: process.memoryUsage.rss(),
    };
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

function requireCopy(replica: Replica | null): Replica {
  if (replica === null) throw new Error("Cannot answer as the first process must have said from what: it has not");
  return replica;
}

function problemOf({ listener, cause }: ListenError): SentProblem {
  const { code = null, syscall = null, message } = cause;
  return { listener, code, syscall, message };
}
