import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { errorCode, neverArrived } from "./call-failure.ts";
import { type AnswerHead, readAnswerHead } from "./answer-head.ts";
import { type ProxiedRequest, type ProxyHandler, proxyRequest } from "./proxy-server.ts";
import { refuse } from "./refuse.ts";

/** A request to forward, and the limits on its answer. */
export interface ForwardedCall extends ProxiedRequest {
  /** The upstream's name in messages, at the start of a sentence: `The node`. */
  readonly upstreamName: string;
  /** Whether the upstream is rolecall's main process, not a node: then it may send any header. */
  readonly isFromMainProcess: boolean;
  /** The deadline for the whole answer, in ms. */
  readonly timeoutMs: number;
  /** The longest answer that is passed on, in bytes. */
  readonly answerMax: number;
  /** Called when the answer's head has arrived and before it is passed on, so that headers can be added. */
  readonly onHead: (status: number) => void;
}

/** How a forwarded request ended: the status that the client got, and what failed. */
export interface ForwardResult {
  readonly status: number;
  readonly problem: string | null;
}

const clientClosed = "the client closed the connection";
const incomplete = "the upstream closed the connection before the end of its answer";
const maybeExecuted = "it may have executed the call";

/**
 * Forwards one request to one upstream and streams its answer back. Never retries: nobody knows whether a call that
 * failed halfway was executed. If the client closes its connection, the upstream's request is cancelled. Always
 * resolves: an unusable answer, and every exception on the way, is a 502, or the end of a response that has begun.
 */
export function forward(forwarded: ForwardedCall): Promise<ForwardResult> {
  if (forwarded.call.response.closed) return Promise.resolve({ status: 499, problem: clientClosed });
  return new Promise((resolve) => new Forward(forwarded, resolve).start());
}

/**
 * One request in flight. Node calls every callback, and what one throws would end the process: hence each runs in
 * `#contain`. http-proxy only carries the request. It leaves the answer to us, because it would write any head that a
 * node sends.
 */
class Forward implements ProxyHandler {
  readonly #forwarded: ForwardedCall;
  readonly #response: ServerResponse;
  readonly #resolve: (result: ForwardResult) => void;
  #problem: string | null = null;
  #request: ClientRequest | null = null;
  #hasAnswer = false;

  constructor(forwarded: ForwardedCall, resolve: (result: ForwardResult) => void) {
    this.#forwarded = forwarded;
    this.#response = forwarded.call.response;
    this.#resolve = resolve;
  }

  /** Starts the deadline, and forwards the call. */
  start(): void {
    const { timeoutMs, upstreamName } = this.#forwarded;
    const response = this.#response;
    const late = `${upstreamName} did not answer within ${timeoutMs} ms: ${maybeExecuted}`;
    const timer = setTimeout(() => this.#contain(() => this.#fail(504, late)), timeoutMs);
    response.once("close", () => {
      clearTimeout(timer);
      if (!response.writableFinished) this.#problem ??= clientClosed;
      this.#resolve({ status: response.headersSent ? response.statusCode : 499, problem: this.#problem });
    });
    this.#contain(() => proxyRequest(this.#forwarded, this));
  }

  onRequest(request: ClientRequest): void {
    this.#contain(() => {
      this.#request = request;
      if (this.#response.destroyed || this.#problem !== null) request.destroy();
      // If a node switches protocols, the request ends with neither an answer nor an error.
      request.once("close", () => this.#contain(() => this.#endWithoutAnswer()));
    });
  }

  onAnswer(answer: IncomingMessage): void {
    this.#contain(() => this.#receive(answer));
  }

  onError(error: Error): void {
    this.#contain(() => this.#fail(502, describe(this.#forwarded.upstreamName, error)));
  }

  #endWithoutAnswer(): void {
    if (!this.#hasAnswer && this.#problem === null)
      this.#fail(502, describe(this.#forwarded.upstreamName, new Error("no answer")));
  }

  #receive(answer: IncomingMessage): void {
    const { call, answerMax, isFromMainProcess, upstreamName } = this.#forwarded;
    this.#hasAnswer = true;
    answer.on("error", () => this.#contain(() => this.#cut(incomplete)));
    if (this.#response.destroyed || this.#problem !== null) {
      answer.destroy();
      return;
    }
    const head = readAnswerHead(answer, { host: call.message.headers.host, isFromMainProcess, answerMax });
    if ("problem" in head)
      this.#fail(502, `${upstreamName} sent an answer that cannot be passed on (${head.problem}): ${maybeExecuted}`);
    else this.#stream(answer, head);
  }

  /** Streams an answer as fast as the client reads it. */
  #stream(answer: IncomingMessage, head: AnswerHead): void {
    const response = this.#response;
    const { answerMax, onHead } = this.#forwarded;
    onHead(head.status);
    let length = 0;
    const pass = (chunk: Buffer): void => {
      length += chunk.length;
      if (response.writableEnded || response.destroyed) answer.destroy();
      else if (length > answerMax) {
        this.#cut(`an answer of more than ${answerMax} bytes`);
        answer.destroy();
      } else {
        writeHead(response, head);
        if (!response.write(chunk)) answer.pause();
      }
    };
    const end = (): void => {
      if (this.#problem !== null) return;
      if (!answer.complete) return this.#cut(incomplete);
      writeHead(response, head);
      response.end();
    };
    answer.on("data", (chunk: Buffer) => this.#contain(() => pass(chunk)));
    answer.once("end", () => this.#contain(end));
    response.on("drain", () => answer.resume());
    response.once("close", () => answer.destroy());
  }

  /** Ends an answer that is incomplete or too long. Destroys a response that has begun: it must not look complete. */
  #cut(problem: string): void {
    if (this.#response.destroyed || this.#problem !== null) this.#response.destroy();
    else this.#fail(502, `Cannot forward the answer (${problem}): the upstream may have executed the call`, problem);
  }

  /** @param problem for the audit record, if it differs from the message */
  #fail(status: number, message: string, problem: string = message): void {
    this.#problem ??= problem;
    refuse(this.#response, { status, error: status === 504 ? "timeout" : "bad_gateway", message });
    this.#request?.destroy();
  }

  /** Runs a step. An exception fails this call, and is reported. */
  #contain(step: () => void): void {
    try {
      step();
    } catch (error) {
      const response = this.#response;
      const { call, upstreamName } = this.#forwarded;
      try {
        call.onError(error, call.request);
        if (!response.headersSent) for (const name of answerHeaders(response)) response.removeHeader(name);
        this.#fail(502, `${upstreamName} could not be called, or its answer could not be passed on: ${maybeExecuted}`);
      } catch {
        response.destroy();
        this.#request?.destroy();
      }
    }
  }
}

/** Writes the head with the first chunk of the body, so that an answer that fails before it is a 502. */
function writeHead(response: ServerResponse, { status, phrase, headers }: AnswerHead): void {
  if (response.headersSent || response.destroyed) return;
  for (const [name, value] of headers) response.setHeader(name, value);
  response.writeHead(status, phrase);
}

/** The headers that were copied from an answer. Those of rolecall stay. */
function answerHeaders(response: ServerResponse): readonly string[] {
  return response.getHeaderNames().filter((name) => name !== "x-request-id" && !name.startsWith("x-rolecall-"));
}

/** Describes an error. Without a connection the call cannot have been executed; with one, it may have been. */
function describe(upstreamName: string, error: Error): string {
  const code = errorCode(error);
  const problem = `${upstreamName} could not be reached, or its answer is not valid HTTP (${code})`;
  return `${problem}: ${neverArrived(code) ? "the call was not executed" : maybeExecuted}`;
}
