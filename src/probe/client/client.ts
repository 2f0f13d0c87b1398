import { Client, type Dispatcher } from "undici";
import type { Failure } from "../../cluster/observation.ts";
import { failureOf } from "./failure.ts";
import type { TlsMaterial } from "../../config/tls-material.ts";

/** An answer as it came, or why there is none. */
export type NodeReply = { readonly status: number; readonly body: Buffer } | { readonly failure: Failure };

/** An answer whose body went elsewhere as it came in. */
export type StreamedReply = { readonly status: number } | { readonly failure: Failure };

/** Where a body goes that is not held. */
export interface BodySink {
  /** The longest body that is taken, in bytes. */
  readonly bodyMax: number;
  /** Takes the next piece. Must not throw. */
  readonly onData: (chunk: Buffer) => void;
}

/** Limits of one asking. */
export interface ClientLimits {
  readonly connectTimeoutMs: number;
  /** The deadline for connecting, head and body together, in ms. */
  readonly timeoutMs: number;
}

/** More than any document of a node; what is longer is not read. */
const bodyMax = 1024 * 1024;
const nothing: Buffer = Buffer.alloc(0);

/**
 * Asks one address, one question at a time, over a connection that is kept where the node offers it. Nodes serve with few
 * workers and close after each answer (reference/node-api.md, "Wire"), so there is never more than one connection.
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

  /** Asks `GET path`. Always resolves, at the deadline at the latest. Redirects are answers, not followed. */
  get(path: string): Promise<NodeReply> {
    return new Promise((resolve) => {
      const asking = new Asking(resolve, this.#limits.timeoutMs);
      this.#client.dispatch({ path, method: "GET" }, asking);
    });
  }

  /** Asks `GET path` and hands the body on piece by piece; else as `get`. */
  async read(path: string, sink: BodySink): Promise<StreamedReply> {
    const reply = await new Promise<NodeReply>((resolve) => {
      this.#client.dispatch({ path, method: "GET" }, new Asking(resolve, this.#limits.timeoutMs, sink));
    });
    return "failure" in reply ? reply : { status: reply.status };
  }

  /** Closes the connection; askings under way fail. */
  close(): void {
    this.#client.destroy().catch(() => {
      // Nothing is left to be done for a connection that cannot even be closed.
    });
  }
}

/** One question under way. Undici calls it as the answer comes in; the deadline covers everything, the wait for the connection too. */
class Asking implements Dispatcher.DispatchHandler {
  readonly #resolve: (reply: NodeReply) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #sink: BodySink | null;
  #controller: Dispatcher.DispatchController | null = null;
  #isSettled = false;
  #status = 0;
  #length = 0;
  #first: Buffer | null = null;
  #chunks: Buffer[] | null = null;

  constructor(resolve: (reply: NodeReply) => void, timeoutMs: number, sink: BodySink | null = null) {
    this.#resolve = resolve;
    this.#sink = sink;
    this.#timer = setTimeout(
      () => this.#fail({ kind: "timeout", detail: `no answer within ${timeoutMs} ms` }),
      timeoutMs,
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(new Error("its deadline passed"));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length;
    const most = this.#sink?.bodyMax ?? bodyMax;
    if (this.#isSettled) return;
    if (this.#length > most) this.#fail({ kind: "too_large", detail: `a body of more than ${most} bytes` });
    else if (this.#sink !== null) this.#sink.onData(chunk);
    else if (this.#first === null) this.#first = chunk;
    else (this.#chunks ??= [this.#first]).push(chunk);
  }

  onResponseEnd(): void {
    this.#settle({
      status: this.#status,
      body: this.#chunks === null ? (this.#first ?? nothing) : Buffer.concat(this.#chunks),
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle({ failure: failureOf(error) });
  }

  #fail(failure: Failure): void {
    this.#settle({ failure });
    this.#controller?.abort(new Error(failure.detail));
  }

  #settle(reply: NodeReply): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#resolve(reply);
  }
}
