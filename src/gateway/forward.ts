import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { createProxyServer, type ProxyTarget } from "http-proxy";
import { type AnswerHead, readAnswerHead } from "./answer-head.ts";
import { refuse } from "./reply.ts";
import type { NodeConnection } from "./upstream.ts";

/** Where a request goes and with what. */
export interface ForwardedCall {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** Who is asked, as messages name it: `The node`. */
  readonly method: string;
  /** Whether rolecall's own main process is asked: its answer's head speaks for rolecall. */
  readonly isOwn: boolean;
  /** Base address of who is asked, as `http://host:port`: a node's API or exporter. */
  readonly origin: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly upstream: NodeConnection;
  /** The deadline for the whole answer, in ms. */
  readonly timeoutMs: number;
  /** The longest answer that is passed on, in bytes. */
  readonly answerMax: number;
  /** Called when the answer's head is there and before it is passed on, so that headers can be added to it. */
  readonly onHead: (status: number) => void;
  /** Called with what something on the way threw. It has cost this call and nothing else. */
  readonly onError: (error: unknown) => void;
}

/** How a forwarded request ended: the status the client got, and what went wrong. */
export interface ForwardResult {
  readonly status: number;
  readonly problem: string | null;
}

/**
 * Passes one request to one node and streams its answer back. It is never tried again: nobody can know whether a call that failed
 * halfway was done. A client that goes away takes the node's request with it. Always resolves: whatever the node answers, and whatever
 * throws on the way, is a 502, or the end of an answer that has begun.
 */
export function forward(forwarding: ForwardedCall): Promise<ForwardResult> {
  if (forwarding.response.closed) return Promise.resolve({ status: 499, problem: "the client went away" });
  return new Promise((resolve) => new Forward(forwarding, resolve).start());
}

/** What the audit says of an answer that ended too early. */
const brokenOff = "the node's answer broke off";

/**
 * One request on its way. Every callback runs inside `#contain`: it is called by Node, so what it throws would end the process. The
 * package only carries the request; it leaves the answer to us (`selfHandleResponse`), as it would write any head that a node makes up.
 */
class Forward {
  readonly #forwarding: ForwardedCall;
  #problem: string | null = null;
  #request: ClientRequest | null = null;
  #hasAnswer = false;

  constructor(forwarding: ForwardedCall, resolve: (ended: ForwardResult) => void) {
    const { response, timeoutMs, method } = forwarding;
    this.#forwarding = forwarding;
    const late = `${method} has not answered within ${timeoutMs} ms: whether it did the call is not known`;
    const timer = setTimeout(() => this.#contain(() => this.#fail(504, late)), timeoutMs);
    response.on("error", () => {}); // "close" follows
    response.once("close", () => {
      clearTimeout(timer);
      if (!response.writableFinished) this.#problem ??= "the client went away";
      resolve({ status: response.headersSent ? response.statusCode : 499, problem: this.#problem });
    });
  }

  start(): void {
    this.#contain(() => this.#send());
  }

  #send(): void {
    const { message, response, headers, path, body, upstream, method } = this.#forwarding;
    const { tls, auth } = upstream;
    const host = message.headers.host;
    const proxy = createProxyServer({ target: targetOf(this.#forwarding), selfHandleResponse: true });
    proxy.on("proxyReq", (request) => this.#contain(() => this.#watch(request)));
    proxy.on("proxyRes", (answer) => this.#contain(() => this.#take(answer, host)));
    const onError = (error: Error): void => this.#contain(() => this.#fail(502, describe(method, error)));
    proxy.on("error", onError);
    // The package copies what these two say into its request.
    message.headers = headers;
    message.url = path;
    proxy.web(
      message,
      response,
      {
        buffer: Readable.from(body.length === 0 ? [] : [body]),
        ssl: tls.servername === undefined ? {} : { servername: tls.servername },
        ...(auth === null ? {} : { auth }),
      },
      onError,
    );
  }

  #watch(request: ClientRequest): void {
    this.#request = request;
    if (this.#forwarding.response.destroyed || this.#problem !== null) request.destroy();
    // A node that switches protocols ends the request with neither an answer nor an error.
    request.once("close", () => this.#contain(() => this.#endWithoutAnswer()));
  }

  #endWithoutAnswer(): void {
    if (!this.#hasAnswer && this.#problem === null)
      this.#fail(502, describe(this.#forwarding.method, new Error("no answer")));
  }

  #take(answer: IncomingMessage, host: string | undefined): void {
    const { response, answerMax, isOwn, method } = this.#forwarding;
    this.#hasAnswer = true;
    answer.on("error", () => this.#contain(() => this.#cut(brokenOff)));
    if (response.destroyed || this.#problem !== null) {
      answer.destroy();
      return;
    }
    const head = readAnswerHead(answer, { host, isOwn, answerMax });
    if ("problem" in head)
      this.#fail(
        502,
        `${method} sent an answer that cannot be passed on (${head.problem}): whether it did the call is not known`,
      );
    else this.#stream(answer, head);
  }

  /** Streams an answer as fast as the client takes it. */
  #stream(answer: IncomingMessage, { status, phrase, headers }: AnswerHead): void {
    const { response, answerMax, onHead } = this.#forwarding;
    onHead(status);
    // With the first of the body, so that an answer that is broken from its beginning is a 502.
    const begin = (): void => {
      if (response.headersSent || response.destroyed) return;
      for (const [name, value] of headers) response.setHeader(name, value);
      response.writeHead(status, phrase);
    };
    let length = 0;
    const pass = (chunk: Buffer): void => {
      length += chunk.length;
      if (response.writableEnded || response.destroyed) answer.destroy();
      else if (length > answerMax) {
        this.#cut(`an answer of more than ${answerMax} bytes`);
        answer.destroy();
      } else {
        begin();
        if (!response.write(chunk)) answer.pause();
      }
    };
    const end = (): void => {
      if (this.#problem !== null) return;
      if (!answer.complete) return this.#cut(brokenOff);
      begin();
      response.end();
    };
    answer.on("data", (chunk: Buffer) => this.#contain(() => pass(chunk)));
    answer.once("end", () => this.#contain(end));
    response.on("drain", () => answer.resume());
    response.once("close", () => answer.destroy());
  }

  /** An answer that breaks off, or is longer than allowed, ends the client's connection once it has begun: it must not look whole. */
  #cut(problem: string): void {
    const { response } = this.#forwarding;
    if (response.destroyed || this.#problem !== null) response.destroy();
    else this.#fail(502, `Cannot pass on the answer (${problem}): whether the call was done is not known`, problem);
  }

  /** @param problem what the audit says, where that is not the text */
  #fail(status: number, text: string, problem: string = text): void {
    this.#problem ??= problem;
    refuse(this.#forwarding.response, { status, error: status === 504 ? "timeout" : "bad_gateway", message: text });
    this.#request?.destroy();
  }

  /** Does a step; what it throws costs this call and is reported. */
  #contain(step: () => void): void {
    try {
      step();
    } catch (error) {
      const { response, method, onError } = this.#forwarding;
      try {
        onError(error);
        if (!response.headersSent) for (const name of ofAnswer(response)) response.removeHeader(name);
        this.#fail(
          502,
          `${method} could not be called, or its answer could not be passed on: whether it did the call is not known`,
        );
      } catch {
        response.destroy();
        this.#request?.destroy();
      }
    }
  }
}

/** The headers that were taken over from an answer; those that are ours stay. */
function ofAnswer(response: ServerResponse): readonly string[] {
  return response.getHeaderNames().filter((name) => name !== "x-request-id" && !name.startsWith("x-rolecall-"));
}

function targetOf({ origin, upstream }: ForwardedCall): ProxyTarget {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const { ca, cert, key } = upstream.tls;
  return {
    protocol,
    host,
    port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

/** Before a connection stands nothing can have been done; after that, nobody knows. */
function describe(asked: string, error: Error): string {
  const code = "code" in error && typeof error.code === "string" ? error.code : error.message;
  const isUndone =
    /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ERR_(SSL|TLS)_|.*CERT|SELF_SIGNED|UNABLE_TO)/.test(
      code,
    );
  return `${asked} could not be reached or answered nonsense (${code}): ${isUndone ? "the call was not done" : "whether it did the call is not known"}`;
}
