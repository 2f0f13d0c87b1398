import { type ClientRequest, type IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { createProxyServer, type ProxyServer, type ProxyTarget } from "http-proxy";
import type { IncomingCall } from "../message/incoming-call.ts";
import type { NodeCredentials } from "./node-credentials.ts";

/** A request to send. */
export interface ProxiedRequest {
  /** The call that causes the request: its method, and the connection whose end cancels the request. */
  readonly call: IncomingCall;
  /** Base address as `http://host:port`. */
  readonly origin: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly credentials: NodeCredentials;
}

/** Receives what becomes of one request. */
export interface ProxyHandler {
  /** The request has a socket; its head is not sent yet. */
  onRequest(request: ClientRequest): void;
  onAnswer(answer: IncomingMessage): void;
  onError(error: Error): void;
}

/** The handler of each request in flight, by the message that http-proxy was given for it. */
const handlers = new WeakMap<IncomingMessage, ProxyHandler>();

/** Made for the first request: a bundle loads http-proxy then. */
let proxyServer: ProxyServer | null = null;

/** One server for all upstreams: every request has its own target. `selfHandleResponse` leaves the response to us. */
function openProxyServer(): ProxyServer {
  const server = createProxyServer({ selfHandleResponse: true });
  server.on("proxyReq", (request, message) => handlers.get(message)?.onRequest(request));
  server.on("proxyRes", (answer, message) => handlers.get(message)?.onAnswer(answer));
  server.on("error", (error, message) => handlers.get(message)?.onError(error));
  return server;
}

/** Sends a request with http-proxy. */
export function proxyRequest(request: ProxiedRequest, handler: ProxyHandler): void {
  const { call, origin, path, headers, body, credentials } = request;
  const servername = credentials.serverNames.get(origin) ?? credentials.tls.servername;
  const { checkServerIdentity } = credentials.tls;
  // http-proxy takes method, path and headers from a message, and modifies its headers: it gets a message of its own.
  const message = Object.assign(new IncomingMessage(call.message.socket), {
    method: call.message.method,
    url: path,
    headers,
    httpVersion: call.message.httpVersion,
    httpVersionMajor: call.message.httpVersionMajor,
    httpVersionMinor: call.message.httpVersionMinor,
  });
  handlers.set(message, handler);
  proxyServer ??= openProxyServer();
  proxyServer.web(message, call.response, {
    target: targetOf(request),
    buffer: Readable.from(body.length === 0 ? [] : [body]),
    ssl: {
      ...(servername === undefined ? {} : { servername }),
      ...(checkServerIdentity === undefined ? {} : { checkServerIdentity }),
    },
    ...(credentials.auth === null ? {} : { auth: credentials.auth }),
  });
}

function targetOf({ origin, credentials }: ProxiedRequest): ProxyTarget {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const { ca, cert, key } = credentials.tls;
  return {
    protocol,
    host,
    port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}
