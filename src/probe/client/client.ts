import { Client, type Dispatcher } from "undici";
import type { Failure } from "../../cluster/observation.ts";
import { failureOf } from "./failure.ts";
import { omitStackTraces } from "./omitted-stack-traces.ts";
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

/** Time limits of one request. */
export interface ClientLimits {
  readonly connectTimeoutMs: number;
  /** For connecting, response head and body together, in ms. */
  readonly timeoutMs: number;
}

/** Sends requests to one address, as {@link NodeClient} does. */
export type NodeConnection = Pick<NodeClient, "get" | "getStreamed" | "close">;

/** The longest body read by default, in bytes: more than any document of a node. */
const bodyMax = 1024 * 1024;
const nothing: Buffer = Buffer.alloc(0);

/**
 * Sends requests to one address, one at a time, over a connection that is kept alive if the node offers it. There is
 * never more than one connection: nodes have few workers and close after each response.
 */
export class NodeClient {
  readonly #client: Client;
  readonly #limits: ClientLimits;

  /** @param origin `http://host:port` or `https://host:port` */
  constructor(origin: string, limits: ClientLimits, tls: TlsMaterial | null) {
    this.#limits = limits;
    this.#client = new Client(origin, {
      connect: { timeout: limits.connectTimeoutMs, ...tls },
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 16_384,
      keepAliveTimeout: 30_000,
    });
  }

  /**
   * Sends `GET path`. Always resolves, after `timeoutMs` at the latest. Does not follow redirects: they are responses.
   */
  get(path: string): Promise<NodeReply> {
    return this.#send(path, null);
  }

  /** Sends `GET path` and passes the body to `sink`; otherwise like {@link get}. */
  async getStreamed(path: string, sink: BodySink): Promise<StreamedReply> {
    const reply = await this.#send(path, sink);
    return "failure" in reply ? reply : { status: reply.status };
  }

  /** Closes the connection. Requests in flight fail. */
  close(): void {
    this.#client.destroy().catch(() => {
      // Nothing more can be done about a connection that cannot be closed.
    });
  }

  #send(path: string, sink: BodySink | null): Promise<NodeReply> {
    return new Promise((resolve) => {
      const request = new ProbeRequest(resolve, sink);
      request.startTimeout(this.#limits.timeoutMs);
      this.#client.dispatch({ path, method: "GET" }, request);
    });
  }
}

/**
 * One request in flight. Undici calls its `on…` methods as the response arrives. Its timeout includes the wait for the
 * connection.
 */
class ProbeRequest implements Dispatcher.DispatchHandler {
  readonly #resolve: (reply: NodeReply) => void;
  readonly #sink: BodySink | null;
  #timer: NodeJS.Timeout | undefined;
  #controller: Dispatcher.DispatchController | null = null;
  #isSettled = false;
  #status = 0;
  #length = 0;
  #first: Buffer | null = null;
  #chunks: Buffer[] | null = null;

  constructor(resolve: (reply: NodeReply) => void, sink: BodySink | null) {
    this.#resolve = resolve;
    this.#sink = sink;
  }

  /** Makes the request fail if it has not ended after `timeoutMs`. */
  startTimeout(timeoutMs: number): void {
    const fail = (): void => this.#fail({ kind: "timeout", detail: `no answer within ${timeoutMs} ms` });
    this.#timer = setTimeout(fail, timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(new Error("timed out before it was sent"));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length;
    const maxLength = this.#sink?.bodyMax ?? bodyMax;
    if (this.#length > maxLength) this.#fail({ kind: "too_large", detail: `a body of more than ${maxLength} bytes` });
    else if (this.#sink !== null) this.#sink.onData(chunk);
    else if (this.#first === null) this.#first = chunk;
    else (this.#chunks ??= [this.#first]).push(chunk);
  }

  onResponseEnd(): void {
    this.#settle({
      status: this.#status,
      body: this.#chunks === null ? (this.#first ?? nothing) : Buffer.concat(this.#chunks),
    });
    omitStackTraces();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle({ failure: failureOf(error) });
  }

  #fail(failure: Failure): void {
    this.#settle({ failure });
    this.#controller?.abort(new Error(failure.detail));
  }

  /** Only the first call has an effect: undici reports an aborted request as failed, too. */
  #settle(reply: NodeReply): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#resolve(reply);
  }
}
