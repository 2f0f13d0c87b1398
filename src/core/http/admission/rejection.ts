import { errorReply, type Reply } from "../message/reply.ts";

/** Why bytes are refused before a handler sees a request. */
export type RejectionReason =
  | "bad_client_certificate"
  | "body_unreadable"
  | "closed_early"
  | "connect"
  | "head_too_large"
  | "http2"
  | "http_version"
  | "line_feeds"
  | "malformed"
  | "no_client_certificate"
  | "no_proxy_protocol"
  | "not_http"
  | "path_without_slash"
  | "plain_http_on_tls"
  | "postgresql"
  | "proxy_protocol"
  | "proxy_protocol_invalid"
  | "slow_head"
  | "slow_request"
  | "tls_on_plain_port";

/** A refusal of bytes that no handler sees, because they are no request that this listener can read. */
export interface Rejection {
  /** For the status line, the metric and the log (docs/checks.md). */
  readonly reason: RejectionReason;
  readonly status: number;
  /** What to change, as a sentence. */
  readonly message: string;
}

const crlf = "each line of a request must end with CRLF";

/** The status of each reason, and what to change. `docs/checks.md` has the same reasons; a test compares them. */
const rejections: Readonly<Record<RejectionReason, readonly [status: number, message: string]>> = {
  bad_client_certificate: [
    400,
    "Cannot accept this connection: the client certificate must be valid and issued by a CA in tls.ca",
  ],
  body_unreadable: [400, "Cannot read the body of this request: its chunks or its length are not valid HTTP"],
  closed_early: [400, "Cannot read this request: the client closed the connection before the end of it"],
  connect: [405, "Cannot CONNECT: a health check is a GET, HEAD or OPTIONS request. This listener is no proxy"],
  head_too_large: [431, "Cannot read a head of more than 16384 bytes: send fewer or shorter headers"],
  http2: [
    505,
    "Cannot speak HTTP/2 or gRPC: the check must use HTTP/1.1 or HTTP/1.0. In HAProxy, remove proto h2 from the check; " +
      "in Envoy, use http_health_check without codec_client_type HTTP2",
  ],
  http_version: [505, "Cannot speak this version of HTTP: the check must use HTTP/1.1 or HTTP/1.0"],
  line_feeds: [
    400,
    `Cannot read this request: ${crlf}. Lines that end with LF alone are accepted only for the first request of a ` +
      "connection, if it is a GET, HEAD or OPTIONS without a body",
  ],
  malformed: [400, `Cannot read this request: it is not valid HTTP (method, path or header); ${crlf}`],
  no_client_certificate: [
    400,
    "Cannot accept this connection: this listener requires a client certificate (tls.client: required). In HAProxy, " +
      "add crt FILE to the server",
  ],
  no_proxy_protocol: [
    400,
    "Cannot accept this connection: its address is in proxy_protocol.from, so it must begin with a PROXY preamble. In " +
      "HAProxy, add check-send-proxy to the server",
  ],
  not_http: [
    400,
    "Cannot read this request: it does not begin with an HTTP request line, as GET /nodes/pg1/primary HTTP/1.1",
  ],
  path_without_slash: [
    400,
    "Cannot read the path of this request: it must begin with /, as GET /nodes/pg1/primary HTTP/1.1",
  ],
  plain_http_on_tls: [
    400,
    "Cannot accept plain HTTP: this listener has tls. In HAProxy, add check-ssl to the server; elsewhere use https",
  ],
  postgresql: [400, "Cannot speak the PostgreSQL protocol: this is a health listener, not a database"],
  proxy_protocol: [
    400,
    "Cannot accept a PROXY protocol preamble from this address: add the address to proxy_protocol.from of this listener, " +
      "or send none. In HAProxy, remove send-proxy and check-send-proxy, or add no-check-send-proxy",
  ],
  proxy_protocol_invalid: [
    400,
    "Cannot read the PROXY protocol preamble: it must be version 1 or 2 of the specification",
  ],
  slow_head: [
    408,
    "Cannot wait for the rest of this request: its head, which an empty line ends, must be complete within header_timeout",
  ],
  slow_request: [408, "Cannot wait for the rest of this request: it must be complete within request_timeout"],
  tls_on_plain_port: [
    400,
    "Cannot accept TLS: this listener has no tls. In HAProxy, remove check-ssl, or add no-check-ssl; elsewhere use http",
  ],
};

/** Every reason, in alphabetical order. */
export const rejectionReasons: readonly RejectionReason[] = Object.keys(rejections).filter(isReason);

/** The rejection for a reason. */
export function rejectionFor(reason: RejectionReason): Rejection {
  const [status, message] = rejections[reason];
  return { reason, status, message };
}

/** The answer to bytes that were rejected: the reason is in the status line, where balancers show it. */
export function rejectionReply({ reason, status, message }: Rejection): Reply {
  return errorReply(status, reason, { message, headers: ["X-Rolecall-Reason", reason] });
}

function isReason(text: string): text is RejectionReason {
  return Object.hasOwn(rejections, text);
}
