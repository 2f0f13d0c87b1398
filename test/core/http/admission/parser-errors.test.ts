import assert from "node:assert/strict";
import { test } from "node:test";
import { reasonOfParserError, reasonOfTlsError } from "../../../../src/core/http/admission/parser-errors.ts";

/** An error of Node's parser: its code, whether a head was complete, what was read, and the reason. */
const parserRows: readonly (readonly [code: string, isInBody: boolean, text: string, reason: string | null])[] = [
  ["ECONNRESET", false, "", null],
  ["EPIPE", true, "", null],
  ["HPE_CLOSED_CONNECTION", false, "\0", null],
  ["HPE_HEADER_OVERFLOW", false, "", "head_too_large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", false, "", "slow_head"],
  ["ERR_HTTP_REQUEST_TIMEOUT", true, "", "slow_request"],
  ["HPE_INVALID_EOF_STATE", false, "", "closed_early"],
  ["HPE_INVALID_VERSION", false, "", "http_version"],
  ["HPE_INVALID_CHUNK_SIZE", true, "zz", "body_unreadable"],
  ["HPE_INVALID_HEADER_TOKEN", false, "GET / HTTP/1.1\r\nX\r\n\r\nbody\n", "malformed"],
  ["HPE_INVALID_HEADER_TOKEN", false, "GET / HTTP/1.1\nX: a\n\n", "line_feeds"],
  ["HPE_INVALID_METHOD", false, "\0", "malformed"],
  ["HPE_OF_A_LATER_NODE", false, "", "malformed"],
];

for (const [code, isInBody, text, reason] of parserRows)
  test(`${code} ${isInBody ? "in a body" : "in a head"} of ${JSON.stringify(text)}: ${reason ?? "no error"}`, () => {
    const error = Object.assign(new Error("planted"), { code, rawPacket: Buffer.from(text) });
    assert.equal(reasonOfParserError(error, isInBody), reason);
  });

const tlsRows: readonly (readonly [code: string, reason: string | null])[] = [
  ["ECONNRESET", null],
  ["ERR_TLS_HANDSHAKE_TIMEOUT", "tls_timeout"],
  ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", "tls_certificate_refused"],
  ["ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE", "tls_certificate_refused"],
  ["ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN", "tls_certificate_refused"],
  ["ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_UNKNOWN", "tls_certificate_refused"],
  ["ERR_SSL_NO_APPLICATION_PROTOCOL", "tls_alpn"],
  ["ERR_SSL_UNSUPPORTED_PROTOCOL", "tls_version"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "tls_version"],
  ["ERR_SSL_NO_SHARED_CIPHER", "tls_version"],
  ["ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC", "tls_handshake"],
];

for (const [code, reason] of tlsRows)
  test(`a handshake that fails with ${code}: ${reason ?? "no error"}`, () =>
    assert.equal(reasonOfTlsError(Object.assign(new Error("planted"), { code })), reason));
