import assert from "node:assert/strict";
import { test } from "node:test";
import { tlsAction, tlsTroubleText } from "../../../../src/core/cluster/values/tls-trouble.ts";
import { failureOf } from "../../../../src/core/probe/client/failure.ts";

/** Codes of errors, what is said of each, and what there is to do. */
const rows: readonly (readonly [code: string, says: RegExp, action: RegExp])[] = [
  [
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    /^certificate not trusted/,
    /^Give rolecall the authority .* pg1: `tls\.ca` .*--node-ca FILE/,
  ],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", /^certificate not trusted/, /`tls\.ca`/],
  ["SELF_SIGNED_CERT_IN_CHAIN", /^certificate not trusted/, /`tls\.ca`/],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", /^certificate not trusted/, /`tls\.ca`/],
  ["CERT_HAS_EXPIRED", /^the certificate of the node has expired/, /^Renew the certificate of pg1 /],
  ["CERT_NOT_YET_VALID", /^the certificate of the node is not valid yet/, /^Compare the clocks .* pg1/],
  ["CERT_REVOKED", /^the certificate of the node is revoked/, /^Issue a new certificate for pg1/],
  [
    "ERR_TLS_CERT_ALTNAME_INVALID",
    /^the certificate of the node is for another name/,
    /pg1 is reached, or set `tls\.server_name`/,
  ],
  [
    "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
    /^the node requires a client certificate/,
    /^Set `tls\.cert` and `tls\.key`/,
  ],
  ["ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE", /^the node refuses the handshake/, /^Set `tls\.cert` and `tls\.key`/],
  ["ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE", /^the node refuses the handshake/, /^Set `tls\.cert` and `tls\.key`/],
  [
    "ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED",
    /tls\.cert, which has expired/,
    /^Renew the client certificate, `tls\.cert`/,
  ],
  [
    "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA",
    /tls\.cert, whose authority it does not know/,
    /^Sign `tls\.cert` .* that pg1 trusts/,
  ],
  [
    "ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE",
    /^the node refuses the client certificate of tls\.cert/,
    /^Compare `tls\.cert`/,
  ],
];

for (const [code, says, action] of rows)
  test(`${code} is said in words, with what to do`, () => {
    assert.match(tlsTroubleText(code) ?? "", says);
    const failure = failureOf(Object.assign(new Error("the words of OpenSSL"), { code }));
    assert.equal(failure.kind, "tls");
    assert.match(failure.detail, says);
    assert.ok(failure.detail.length <= 200);
    assert.match(tlsAction(failure, "pg1") ?? "", action);
  });

test("an authority that is not known any more may be that of somebody else", () => {
  const failure = failureOf(Object.assign(new Error("x"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }));
  assert.match(
    tlsAction(failure, "pg1", true) ?? "",
    /^The certificate of pg1 was trusted before\. Find out who replaced it/,
  );
  const expired = failureOf(Object.assign(new Error("x"), { code: "CERT_HAS_EXPIRED" }));
  assert.equal(tlsAction(expired, "pg1", true), tlsAction(expired, "pg1"));
});

test("other failures, and other errors of TLS, have no such action", () => {
  for (const code of ["ECONNREFUSED", "ERR_SSL_WRONG_VERSION_NUMBER"]) {
    assert.equal(tlsTroubleText(code), null);
    assert.equal(tlsAction(failureOf(Object.assign(new Error("refused"), { code })), "pg1"), null);
  }
  assert.equal(tlsAction(null, "pg1"), null);
});
