import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { createProxyServer, type ProxyTarget } from "http-proxy";
import { refuse } from "./reply.ts";
import type { Upstream } from "./upstream.ts";

/** Where a request goes and with what. */
export interface Forwarding {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** Who is asked, as messages name it: `The node`. */
  readonly asked: string;
  /** Base address of who is asked, as `http://host:port`: a node's API or exporter. */
  readonly origin: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly upstream: Upstream;
  /** The deadline for the whole answer, in ms. */
  readonly timeoutMs: number;
  /** The longest answer that is passed on, in bytes. */
  readonly answerMax: number;
  /** Called when the answer's head is there and before it is passed on, so that headers can be added to it. */
  readonly onHead: (status: number) => void;
}

/** How a forwarded request ended: the status the client got, and what went wrong. */
export interface Ended {
  readonly status: number;
  readonly problem: string | null;
}

/**
 * Passes one request to one node and streams its answer back. It is never tried again: nobody can know whether a call that failed
 * halfway was done. A client that goes away takes the node's request with it.
 */
export function forward(forwarding: Forwarding): Promise<Ended> {
  return new Promise((resolve) => {
    const { message, response, timeoutMs, asked } = forwarding;
    let problem: string | null = null;
    let toNode: ClientRequest | null = null;
    const fail = (status: number, text: string): void => {
      problem ??= text;
      refuse(response, { status, error: status === 504 ? "timeout" : "bad_gateway", message: text });
      toNode?.destroy();
    };
    const timer = setTimeout(
      () => fail(504, `${asked} has not answered within ${timeoutMs} ms: whether it did the call is not known`),
      timeoutMs,
    );
    response.once("close", () => {
      clearTimeout(timer);
      if (!response.writableFinished) problem ??= "the client went away";
      resolve({ status: response.headersSent ? response.statusCode : 499, problem });
    });
    const proxy = createProxyServer({ target: targetOf(forwarding) });
    proxy.on("proxyReq", (request) => {
      toNode = request;
      if (response.destroyed || problem !== null) request.destroy();
    });
    proxy.on("proxyRes", (answer) => {
      takeAnswer(answer, forwarding, (text) => {
        problem ??= text;
        response.destroy();
      });
    });
    // The package copies what these two say into its request.
    message.headers = forwarding.headers;
    message.url = forwarding.path;
    const { tls, auth } = forwarding.upstream;
    proxy.web(
      message,
      response,
      {
        buffer: Readable.from(forwarding.body.length === 0 ? [] : [forwarding.body]),
        ssl: tls.servername === undefined ? {} : { servername: tls.servername },
        ...(auth === null ? {} : { auth }),
      },
      (error) => fail(502, describe(asked, error)),
    );
  });
}

/** An answer that breaks off, or is longer than allowed, ends the client's connection: it must not look whole. */
function takeAnswer(answer: IncomingMessage, { answerMax, onHead }: Forwarding, cut: (problem: string) => void): void {
  // What software a node runs is nobody's business beyond us.
  delete answer.headers["server"];
  let length = 0;
  answer.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= answerMax) return;
    cut(`an answer of more than ${answerMax} bytes`);
    answer.destroy();
  });
  answer.on("error", () => cut("the node's answer broke off"));
  onHead(answer.statusCode ?? 0);
}

function targetOf({ origin, upstream }: Forwarding): ProxyTarget {
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
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  const isUndone = /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ERR_(SSL|TLS)_|.*CERT|SELF_SIGNED|UNABLE_TO)/.test(code);
  return `${asked} could not be reached or answered nonsense (${code}): ${isUndone ? "the call was not done" : "whether it did the call is not known"}`;
}
