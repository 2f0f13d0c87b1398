import { documentMax } from "../../cluster/documents/document-sizes.ts";
import type { Socket } from "node:net";
import { Client, type Dispatcher } from "undici";
import type { Failure } from "../../cluster/observation.ts";
import type { ByteBudget } from "./byte-budget.ts";
import { connectorOf } from "./connector.ts";
import { failureOf } from "./failure.ts";
import { omitStackTraces } from "./omitted-stack-traces.ts";
import { ResponseTimeout, type Lateness } from "./response-timeout.ts";
import { BodyCounter, ResponseBody, type ByteRefusal } from "./response-body.ts";
import { WireCounter } from "./wire-counter.ts";
import type { TlsMaterial } from "../../config/tls-material.ts";

/** A node's response, or why there is none. */
export type NodeReply = { readonly status: number; readonly body: Buffer } | { readonly failure: Failure };

/** A response whose body went to a {@link BodySink}. */
export type StreamedReply = { readonly status: number } | { readonly failure: Failure };

/** Receives a body piece by piece, so that the body is never buffered whole. */
export interface BodySink {
  /** The longest body accepted, in bytes. */
  readonly bodyMax: number;
  /** Takes the next piece. Must not throw. */
  readonly onData: (chunk: Buffer) => void;
}

/** The limits of the requests to one address. */
export interface ClientLimits {
  readonly connectTimeoutMs: number;
  /** For connecting, response head and body together, in ms. */
  readonly timeoutMs: number;
  /** What the bodies are charged to. Default: nothing limits them together. */
  readonly budget?: ByteBudget;
  /** How late the event loop is. Default: it never is. */
  readonly lateness?: Lateness;
  /** Called with the IP address of each new connection. Must not throw. */
  readonly onConnected?: (ip: string) => void;
}

/** What the pieces of a body go to. */
interface Body {
  /** The longest body accepted, in bytes. */
  readonly bodyMax: number;
  /** Takes the next piece. Returns why the body is refused, or `null`. Must not throw. */
  readonly add: (piece: Buffer) => ByteRefusal;
}

/** Sends requests to one address, as {@link NodeClient} does. */
export type NodeConnection = Pick<NodeClient, "get" | "getStreamed" | "close">;

/** What the last body of one kind of requests has reserved in the budget: it counts as kept until the next one. */
export class KeptBody {
  readonly #budget: ByteBudget | null;
  #bytes = 0;

  constructor(budget: ByteBudget | null) {
    this.#budget = budget;
  }

  /** The next body has come. @param bytes how many bytes it has reserved */
  replace(bytes: number): void {
    this.#budget?.release(this.#bytes);
    this.#bytes = bytes;
  }

  /** Nothing is kept. */
  release(): void {
    this.replace(0);
  }
}

/** More responses than this to one request, most of them interim ones, are no answer. */
const responsesMax = 16;
/**
 * Sends requests to one address, one at a time, over a connection that is kept alive if the node offers it. There is
 * never more than one connection: nodes have few workers and close after each response.
 */
export class NodeClient {
  readonly #client: Client;
  readonly #limits: ClientLimits;
  #socket: Socket | null = null;
  #request: ProbeRequest | null = null;
  readonly #kept: KeptBody;

  /** @param origin `http://host:port` or `https://host:port` */
  constructor(origin: string, limits: ClientLimits, tls: TlsMaterial | null) {
    this.#limits = limits;
    this.#kept = new KeptBody(limits.budget ?? null);
    this.#client = new Client(origin, {
      connect: connectorOf(limits.connectTimeoutMs, tls, (socket) => this.#follow(socket)),
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 16_384,
      keepAliveTimeout: 30_000,
    });
  }

  /**
   * Sends `GET path`. Always resolves, after `timeoutMs` at the latest, or twice that while this process is busy. Does
   * not follow redirects: they are responses.
   * @param bodyMax the longest body accepted, in bytes
   * @param kept the last body that the caller keeps, which this one replaces. Default: the last one of this client
   */
  get(path: string, bodyMax: number = documentMax.report, kept: KeptBody = this.#kept): Promise<NodeReply> {
    const body = new ResponseBody(bodyMax, this.#limits.budget ?? null);
    return new Promise((resolve) => {
      this.#send(path, body, (reply) => {
        kept.replace(body.held);
        if ("failure" in reply) kept.release();
        resolve("failure" in reply ? reply : { status: reply.status, body: body.bytes });
      });
    });
  }

  /** Sends `GET path` and passes the body to `sink`; otherwise like {@link get}. */
  getStreamed(path: string, { bodyMax, onData }: BodySink): Promise<StreamedReply> {
    const counter = new BodyCounter(bodyMax, this.#limits.budget ?? null, true);
    const add = (piece: Buffer): ByteRefusal => {
      const refusal = counter.add(piece);
      if (refusal === null) onData(piece);
      return refusal;
    };
    return new Promise((resolve) => this.#send(path, { bodyMax, add }, resolve));
  }

  /** Closes the connection. Requests in flight fail. */
  close(): void {
    this.#kept.release();
    this.#client.destroy().catch(() => {
      // Nothing more can be done about a connection that cannot be closed.
    });
  }

  /** @param onEnd called once */
  #send(path: string, body: Body, onEnd: (reply: StreamedReply) => void): void {
    const request = new ProbeRequest(body, new WireCounter(this.#limits.budget ?? null), (reply) => {
      if (this.#request === request) this.#request = null;
      onEnd(reply);
    });
    this.#request = request;
    request.startTimeout(this.#limits.timeoutMs, this.#limits.lateness ?? null);
    if (this.#socket !== null) request.wire.startAt(this.#socket.bytesRead);
    this.#client.dispatch({ path, method: "GET" }, request);
  }

  /** Counts everything that arrives, also what is no body. */
  #follow(socket: Socket): void {
    this.#socket = socket;
    if (socket.remoteAddress !== undefined) this.#limits.onConnected?.(socket.remoteAddress);
    this.#request?.wire.startAt(socket.bytesRead);
    socket.on("readable", () => this.#request?.received(socket.bytesRead));
    socket.once("error", (error) => this.#request?.broken(error));
    // Undici opens the next connection when this one has closed.
    socket.once("close", () => (this.#socket = null));
  }
}

/**
 * One request in flight. Undici calls its `on…` methods as the response arrives. Its timeout includes the wait for the
 * connection.
 */
class ProbeRequest implements Dispatcher.DispatchHandler {
  /** All that arrives for this request. */
  readonly wire: WireCounter;
  readonly #onEnd: (reply: StreamedReply) => void;
  readonly #body: Body;
  #timeout: ResponseTimeout | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #isSettled = false;
  #status = 0;
  #responses = 0;

  constructor(body: Body, wire: WireCounter, onEnd: (reply: StreamedReply) => void) {
    this.#onEnd = onEnd;
    this.#body = body;
    this.wire = wire;
  }

  /** Makes the request fail if it has not ended after `timeoutMs`. */
  startTimeout(timeoutMs: number, lateness: Lateness | null): void {
    this.#timeout = new ResponseTimeout(timeoutMs, lateness, (failure) => this.#fail(failure));
    this.#timeout.start();
  }

  /** Fails if the connection has received too many bytes that are no body. @param bytes all that it received */
  received(bytes: number): void {
    const refusal = this.wire.received(bytes);
    if (refusal !== null) this.#refuse(refusal);
  }

  /** Fails with a TLS alert of the node. Undici would only say that the connection was closed. */
  broken(error: Error): void {
    const failure = failureOf(error);
    if (failure.kind === "tls") this.#fail(failure);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(new Error("timed out before it was sent"));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
    this.#responses += 1;
    if (this.#responses > responsesMax) this.#refuse(`more than ${responsesMax} responses to one request`);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.wire.addBody(chunk.length);
    const refusal = this.#body.add(chunk);
    if (refusal !== null) this.#refuse(refusal);
  }

  onResponseEnd(): void {
    this.#settle({ status: this.#status });
    omitStackTraces();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle({ failure: failureOf(error) });
  }

  #refuse(detail: string): void {
    this.#fail({ kind: "too_large", detail });
  }

  #fail(failure: Failure): void {
    this.#settle({ failure });
    this.#controller?.abort(new Error(failure.detail));
  }

  /** Only the first call has an effect: undici reports an aborted request as failed, too. */
  #settle(reply: StreamedReply): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#timeout?.end();
    this.#onEnd(reply);
  }
}
