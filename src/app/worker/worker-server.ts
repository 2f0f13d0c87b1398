import type { SendHandle } from "node:child_process";
import type { Config, ListenerConfig } from "../../core/config/model/config.ts";
import { ListenError } from "../../core/http/listener/listen-error.ts";
import { ListenerSet, type PreparedListeners } from "../../core/http/listener/listener-set.ts";
import { AnswerCounter } from "../../core/http/message/answer-counter.ts";
import type { ListenerHandler, RequestHandler } from "../../core/http/message/handler.ts";
import { PageGate } from "../../core/http/pages/page-gate.ts";
import { ListenerEventFeed } from "../../core/workers/listener-events.ts";
import type { FromWorker, PreparedInWorker, RelayAddress, ToWorker } from "../../core/workers/messages.ts";
import { sentProblemOf } from "../../core/workers/sent-problem.ts";
import { shortestLateTtlMs } from "../../core/health/evidence/node/late-here.ts";
import { answerSourcesOf } from "../handlers/answer-sources.ts";
import { type Backend, buildListenerHandler } from "../handlers/listener-handler.ts";
import type { CostlyPage } from "../../core/feature/listener-api.ts";
import type { Request } from "../../core/http/message/request.ts";
import { listenerApiOf } from "../registry/listener-apis.ts";
import { mayBeProbedElsewhere } from "../registry/probed-elsewhere.ts";
import { WorkerState } from "./worker-state.ts";
import { relay } from "../../core/workers/relay.ts";
import type { IncomingCall } from "../../core/http/message/incoming-call.ts";
import { diagnosticsPageOf } from "../../core/http/node-api/diagnostics-paths.ts";
import { servePage } from "../../core/http/pages/page.ts";

/** Sends a message to the main process. */
export type SendToMain = (message: FromWorker, socket?: SendHandle) => void;

/** How often the clock looks for a gap and a report is sent, in ms. A report is a sign of life too. */
const tickIntervalMs = 1_000;

/** A worker: answers checks from its copy of the snapshot, on the sockets that it shares with the main process. */
export class WorkerServer {
  readonly #send: SendToMain;
  readonly #listeners: ListenerSet;
  readonly #events: ListenerEventFeed;
  readonly #state = new WorkerState();
  readonly #counter = new AnswerCounter();
  readonly #gate = new PageGate();
  /** Open sockets that the main process sent, by listener, until the listener uses them. */
  readonly #sockets = new Map<string, SendHandle>();
  #timer: NodeJS.Timeout | null = null;
  #prepared: PreparedListeners | null = null;

  constructor(send: SendToMain) {
    this.#send = send;
    this.#events = new ListenerEventFeed((event) => send({ kind: "event", event }));
    this.#listeners = new ListenerSet({
      handlerFor: (listener, key) => this.#handlerFor(listener, key),
      eventsOf: (listener) => this.#events.of(listener),
      listeningSocketOf: (key) => (this.#sockets.has(key) ? { handle: this.#sockets.get(key) } : undefined),
      onOpened: (key, socket) => {
        this.#sockets.delete(key);
        // The main process keeps two copies, and closes one that it has already.
        for (let copies = 0; copies < 2; copies += 1) send({ kind: "opened", key }, socket);
      },
      fastPath: {
        mode: () => this.#state.fastPathMode,
        onDisabled: (reason) => send({ kind: "fast_path_off", reason }),
      },
    });
  }

  /** Starts the regular reports. */
  start(): void {
    this.#events.start();
    this.#timer ??= setInterval(() => {
      this.#state.tick();
      this.#report();
    }, tickIntervalMs);
  }

  /** Handles one message of the main process. */
  async handle(message: ToWorker, socket: SendHandle): Promise<void> {
    switch (message.kind) {
      case "socket":
        this.#sockets.set(message.key, socket);
        break;
      case "prepare":
        this.#send({ kind: "prepared", prepared: await this.#prepare(message) });
        break;
      case "commit":
        this.#state.load(message.fullState);
        this.#follow(message.fullState.config);
        break;
      case "reload":
        if (this.#state.reload(message)) this.#follow(message.config);
        else this.#send({ kind: "out_of_sync" });
        break;
      case "abandon":
        await this.#abandon();
        break;
      case "changes":
        if (!this.#state.record(message)) this.#send({ kind: "out_of_sync" });
        break;
      case "adopted":
        if (!this.#state.adopt(message)) this.#send({ kind: "out_of_sync" });
        break;
      case "phase":
        this.#state.enter(message);
        break;
      case "report":
        this.#report();
        break;
      case "retire":
        break; // the process ends when `retire` has
      case "close":
        await this.close();
    }
  }

  /** Takes no new connection. Resolves when the open ones have ended; each gets one more answer. */
  async retire(): Promise<void> {
    await this.#listeners.handOver();
    await this.close();
  }

  /** Closes the listeners. Answers in flight are finished. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#events.close();
    await this.#listeners.close();
    this.#report();
  }

  async #prepare({ listen, fullState }: Extract<ToWorker, { kind: "prepare" }>): Promise<PreparedInWorker> {
    try {
      await this.#abandon();
      if (fullState !== null) this.#state.load(fullState);
      const prepared = await this.#listeners.prepare(listen, fullState !== null);
      this.#prepared = prepared;
      return { listeners: prepared.listeners };
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
      return { problem: sentProblemOf(error) };
    }
  }

  #follow({ listen }: Pick<Config, "listen">): void {
    this.#listeners.follow(listen);
    const prepared = this.#prepared;
    this.#prepared = null;
    // Later messages must not wait until removed listeners have closed.
    void prepared?.commit();
  }

  async #abandon(): Promise<void> {
    const prepared = this.#prepared;
    this.#prepared = null;
    await prepared?.abandon();
  }

  #handlerFor(listener: ListenerConfig, key: string): ListenerHandler {
    const state = this.#state;
    const sources = answerSourcesOf({
      store: () => state.store,
      clock: () => state.clock,
      phase: () => state.phase,
      counter: this.#counter,
      portOf: ({ port }) => port,
      lateness: () => ({ isLate: isLate(state), isWithdrawn: false }),
    });
    const { config } = state;
    const api = listenerApiOf(listener.dialect);
    const backend = buildWorkerBackend({
      gate: this.#gate,
      relayAddress: () => state.relay,
      key,
      pageOf: (request) => api?.pageOf(request, config) ?? null,
    });
    return buildListenerHandler({ listener, config }, sources, backend);
  }

  #report(): void {
    const { user, system } = process.cpuUsage();
    const report = {
      answers: [...this.#counter.rows()],
      backends: this.#counter.servers.rows(),
      limits: this.#counter.limits.rows(),
      asked: this.#counter.nodes.rows(),
      fastPath: this.#listeners.fastPathCounts,
      cpuS: (user + system) / 1e6,
      residentBytes: process.memoryUsage.rss(),
    };
    this.#send({ kind: "report", report });
  }
}

/** What the backend of one listener in a worker depends on. */
interface WorkerBackendContext {
  readonly gate: PageGate;
  /** The relay server of the main process. */
  readonly relayAddress: () => RelayAddress;
  /** The key of the listener, by which the main process knows it. */
  readonly key: string;
  /** The costly page that a request for the API of a feature asks for. */
  readonly pageOf: (request: Request) => CostlyPage | null;
}

/**
 * Builds the backend of one listener in a worker: it relays to the main process. Pages go through the worker's page
 * gate first, so that the main process, which renders them, is not flooded through its workers.
 */
export function buildWorkerBackend({ gate, relayAddress, key, pageOf }: WorkerBackendContext): Backend {
  const relayToMain = (call: IncomingCall): Promise<void> => relay(call, { ...relayAddress(), listener: key });
  const relayCall: RequestHandler = (call) => relayToMain(call).then(() => null);
  const relayPage = (page: CostlyPage, call: IncomingCall): Promise<null> =>
    servePage({ gate, ...page, render: () => relayCall(call) }, call);
  return {
    passthrough: { manage: (_, call) => relayToMain(call), fetch: (_, call) => relayToMain(call) },
    admin: relayCall,
    diagnostics: (call) => relayPage({ name: diagnosticsPageOf(call.request.target), runningMax: 1 }, call),
    rest: (call) => {
      const page = pageOf(call.request);
      return page === null ? relayCall(call) : relayPage(page, call);
    },
  };
}

/** Whether the main process does not get its evidence in time. Only it knows what is probed elsewhere after all. */
function isLate({ store, clock, config }: Pick<WorkerState, "store" | "clock" | "config">): boolean {
  const probed = new Set(
    config.clusters
      .filter((cluster) => !mayBeProbedElsewhere.some((may) => may(config, cluster)))
      .map(({ name }) => name),
  );
  const sources = {
    clusters: store.current.clusters,
    policyOf: (name: string) => store.policyOf(name),
    isProbed: (name: string) => probed.has(name),
  };
  return shortestLateTtlMs(sources, clock.now()) !== null;
}
