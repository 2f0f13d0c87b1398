import { oneOf } from "../../core/cluster/values/one-of.ts";
import type { CancelTimer, SetTimer } from "../../core/cluster/timer.ts";
import type { ClusterEvent } from "../../core/events/cluster-event.ts";
import type { ConfigOverview } from "../../core/http/diagnostics/config-overview.ts";
import type { IncomingCall } from "../../core/http/message/incoming-call.ts";
import {
  badRequest,
  errorReply,
  methodNotAllowed,
  type Reply,
  unknownParameter,
} from "../../core/http/message/reply.ts";
import { ClusterRenderings, type LiveSources } from "./cluster-renderings.ts";
import { LiveStream, type LiveSubscription } from "./live-stream.ts";

/** How many streams may be open, in all and for one client (its address and user). */
const streamsMax = 64;
const streamsPerClientMax = 16;
/** The interval of heartbeats, in ms. A client that receives nothing for much longer has lost the connection. */
const heartbeatMs = 3_000;
/** Changes within this time are sent together, in ms. */
const coalescingMs = 50;
/** Sending takes at most this share of the time. */
const shareMax = 0.1;

/** What live streams depend on. */
export interface LiveStreamsContext extends LiveSources {
  /** The newest events of all clusters, oldest first. */
  readonly events: () => readonly ClusterEvent[];
  readonly version: string;
  /** Which configuration is in force, and which was refused. */
  readonly config: () => ConfigOverview;
  readonly setTimer: SetTimer;
}

/** What the streams did. */
export interface StreamCounts {
  readonly open: number;
  readonly opened: number;
  /** Refused with 429. */
  readonly refused: number;
  /** Ended because their clients did not read. */
  readonly unread: number;
}

/** Which clusters a listener serves. */
export interface LiveScope {
  readonly cluster: string | null;
  readonly clusters: readonly string[];
}

/**
 * Serves `GET /events/stream`: changes of clusters and events as server-sent events. Costs nothing while nobody
 * listens: timers run only while streams are open.
 */
export class LiveStreams {
  readonly #context: LiveStreamsContext;
  readonly #renderings: ClusterRenderings;
  readonly #streams = new Map<LiveStream, string>();
  #cancelBeat: CancelTimer | null = null;
  #cancelFlush: CancelTimer | null = null;
  /** Nothing is sent before this instant, in ms of `performance.now()`. */
  #restsUntilMs = 0;
  /** What has ended opens no stream any more. */
  #life: "open" | "ended" = "open";
  #opened = 0;
  #refused = 0;
  #unread = 0;

  constructor(context: LiveStreamsContext) {
    this.#context = context;
    this.#renderings = new ClusterRenderings(context);
  }

  /** What the streams did so far. */
  get counts(): StreamCounts {
    return { open: this.#streams.size, opened: this.#opened, refused: this.#refused, unread: this.#unread };
  }

  /** To be called after each change of a cluster: of its evidence, or only of the age of its evidence. */
  clusterChanged(cluster: string, part: "change" | "age"): void {
    if (this.#streams.size === 0) return;
    for (const stream of this.#streams.keys()) stream.clusterChanged(cluster, part);
    this.#schedule(coalescingMs);
  }

  /** To be called after each event. @param cluster that of the event; `null`: it is about rolecall itself */
  eventPublished(cluster: string | null): void {
    if (this.#streams.size === 0) return;
    for (const stream of this.#streams.keys()) stream.eventPublished(cluster);
    this.#schedule(coalescingMs);
  }

  /** Ends all streams: their clients connect again, under the configuration then in force. */
  reconnect(): void {
    for (const stream of this.#streams.keys()) stream.end("reload");
  }

  /** Ends all streams, and opens no other. */
  end(): void {
    if (this.#life === "ended") return;
    this.#life = "ended";
    for (const stream of this.#streams.keys()) stream.end("stopping");
  }

  /**
   * Opens a stream: `?cluster=NAME` follows one cluster in full. `Last-Event-ID`, or `last_event_id=`, names the last
   * event that the client has.
   * @returns the refusal; `null` if the stream is open
   */
  open(call: IncomingCall, query: URLSearchParams, scope: LiveScope): Reply | null {
    const { method } = call.request;
    if (method !== "GET" && method !== "HEAD") return methodNotAllowed(method, "GET, HEAD");
    const subscription = subscriptionOf(call, query, scope);
    if ("status" in subscription) return subscription;
    const client = JSON.stringify([call.caller.address, call.caller.principal]);
    const refusal = this.#refusal(client);
    if (refusal !== null) return refusal;
    const { response } = call;
    response.sendDate = false;
    response.writeHead(200, {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-store",
      "X-Accel-Buffering": "no",
    });
    if (method === "HEAD") {
      response.end();
      return null;
    }
    this.#add(new LiveStream(response, subscription, this.#start()), client, call);
    return null;
  }

  #start(): { readonly nowMs: number; readonly newestEventId: string | null } {
    return { nowMs: this.#context.now(), newestEventId: this.#context.events().at(-1)?.id ?? null };
  }

  #refusal(client: string): Reply | null {
    if (this.#life === "ended")
      return errorReply(503, "stopping", { message: "Cannot open a stream: rolecall is stopping" });
    const own = [...this.#streams.values()].filter((other) => other === client).length;
    if (this.#streams.size < streamsMax && own < streamsPerClientMax) return null;
    this.#refused += 1;
    const [count, whose] = own >= streamsPerClientMax ? [streamsPerClientMax, " of this client"] : [streamsMax, ""];
    const message = `Cannot open a stream: ${count} streams${whose} are open already`;
    return errorReply(429, "busy", { message, headers: ["Retry-After", "5"] });
  }

  #add(stream: LiveStream, client: string, { response, message }: IncomingCall): void {
    const { snapshot, version, config } = this.#context;
    this.#opened += 1;
    this.#streams.set(stream, client);
    if (this.#cancelBeat === null) this.#beatLater();
    message.socket.setNoDelay(true);
    response.once("close", () => this.#remove(stream));
    response.on("drain", () => {
      stream.drained();
      this.#schedule(0);
    });
    response.write("retry: 1000\n\n");
    const hello = { instance: snapshot().instance, version, heartbeat_ms: heartbeatMs };
    stream.send("hello", JSON.stringify({ ...hello, config: stream.isBound ? null : config() }));
    this.#schedule(0);
  }

  #remove(stream: LiveStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    this.#cancelBeat?.();
    this.#cancelFlush?.();
    this.#cancelBeat = null;
    this.#cancelFlush = null;
    this.#renderings.clear();
  }

  #schedule(delayMs: number): void {
    const restMs = this.#restsUntilMs - performance.now();
    this.#cancelFlush ??= this.#context.setTimer(() => this.#flushAll(), Math.max(delayMs, restMs));
  }

  /** Sends one slice to each stream, and rests so long that sending takes at most its share of the time. */
  #flushAll(): void {
    this.#cancelFlush = null;
    const startedAtMs = performance.now();
    const nowMs = this.#context.now();
    let isMore = false;
    for (const stream of this.#streams.keys()) {
      if (stream.isPending) stream.flush(this.#renderings, this.#context.events, nowMs);
      isMore ||= stream.isPending;
    }
    const endedAtMs = performance.now();
    this.#restsUntilMs = endedAtMs + Math.min(1_000, (endedAtMs - startedAtMs) * (1 / shareMax - 1));
    if (isMore) this.#schedule(0);
  }

  #beatLater(): void {
    this.#cancelBeat = this.#context.setTimer(() => this.#beat(), heartbeatMs);
  }

  #beat(): void {
    this.#beatLater();
    const nowMs = this.#context.now();
    const data = JSON.stringify({ at: new Date().toISOString() });
    for (const stream of this.#streams.keys()) {
      if (stream.mustEnd(nowMs)) {
        if (stream.isUnread) this.#unread += 1;
        stream.end("expired");
        continue;
      }
      stream.allChanged();
      stream.beat(data);
    }
    this.#schedule(coalescingMs);
  }
}

function subscriptionOf({ message }: IncomingCall, query: URLSearchParams, scope: LiveScope): LiveSubscription | Reply {
  const clusters = scope.cluster === null ? scope.clusters : [scope.cluster];
  const unknown = unknownParameter(query, ["cluster", "last_event_id"]);
  if (unknown !== null) return badRequest(unknown);
  const only = query.get("cluster");
  if (only !== null && !clusters.includes(only))
    return badRequest({ subject: "parameter cluster", value: only, allowed: oneOf(clusters, "cluster") });
  const header = message.headers["last-event-id"];
  const text = typeof header === "string" ? header : query.get("last_event_id");
  return {
    clusters: new Set(clusters),
    boundTo: scope.cluster,
    only,
    lastEventId: text !== null && /^\d{1,16}\.\d{1,15}$/.test(text) ? text : null,
  };
}
