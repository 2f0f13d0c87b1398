import type { RejectionReason } from "./rejection.ts";

/** An error of node:http's parser or of TLS, with what was being read. */
export interface ReadingError extends Error {
  readonly code?: string;
  /** The chunk in which node:http found the error. */
  readonly rawPacket?: unknown;
}

/**
 * Why node:http could not read a request.
 * @param isInBody whether the head of a request was complete
 * @returns `null` if the client is gone, or sends something after the end of its last request: that is no error
 */
export function reasonOfParserError({ code = "", rawPacket }: ReadingError, isInBody: boolean): RejectionReason | null {
  switch (code) {
    case "ECONNRESET":
    case "EPIPE":
    case "ETIMEDOUT":
    case "HPE_CLOSED_CONNECTION":
      return null;
    case "HPE_HEADER_OVERFLOW":
      return "head_too_large";
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return isInBody ? "slow_request" : "slow_head";
    case "HPE_INVALID_EOF_STATE":
      return "closed_early";
    case "HPE_INVALID_VERSION":
      return "http_version";
    default:
      if (isInBody) return "body_unreadable";
      return rawPacket instanceof Uint8Array && hasBareLineFeed(rawPacket) ? "line_feeds" : "malformed";
  }
}

function hasBareLineFeed(bytes: Uint8Array): boolean {
  const [head = ""] = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16_384))
    .toString("latin1")
    .split("\r\n\r\n");
  return /(?<!\r)\n/.test(head);
}

/** Why a TLS handshake failed; `null` if the client is gone, which is no error. */
export function reasonOfTlsError({ code = "" }: ReadingError): TlsFailure | null {
  if (/^(ECONNRESET|EPIPE|ETIMEDOUT)$/.test(code)) return null;
  if (code === "ERR_TLS_HANDSHAKE_TIMEOUT") return "tls_timeout";
  if (/ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE|UNSUPPORTED_CERTIFICATE)/.test(code))
    return "tls_certificate_refused";
  if (/NO_APPLICATION_PROTOCOL/.test(code)) return "tls_alpn";
  if (/UNSUPPORTED_PROTOCOL|VERSION|NO_SHARED|INAPPROPRIATE_FALLBACK/.test(code)) return "tls_version";
  return "tls_handshake";
}

/**
 * `tls_certificate_refused`: the client does not trust our certificate. `tls_alpn`: it insists on another protocol than
 * HTTP/1.1. `tls_version`: no version or cipher in common. `tls_timeout`: too slow. `tls_handshake`: anything else.
 */
export type TlsFailure = "tls_certificate_refused" | "tls_alpn" | "tls_version" | "tls_timeout" | "tls_handshake";
