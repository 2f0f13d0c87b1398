import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "undici";
import { failureOf } from "../../../../src/core/probe/client/failure.ts";

function errorWith(code: string): Error {
  return Object.assign(new Error(`connect ${code}`), { code });
}

test("a lack of this machine's resources is no failure of the node; an error of the node or the network is", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["EMFILE", "not_sent"],
    ["ENFILE", "not_sent"],
    ["ENOBUFS", "not_sent"],
    ["ENOMEM", "not_sent"],
    ["EADDRNOTAVAIL", "not_sent"],
    ["EADDRINUSE", "not_sent"],
    ["EAGAIN", "not_sent"],
    ["EAI_MEMORY", "not_sent"],
    ["ECONNREFUSED", "refused"],
    ["ECONNRESET", "reset"],
    ["EHOSTUNREACH", "unreachable"],
    ["ENETUNREACH", "unreachable"],
    ["ENOTFOUND", "unreachable"],
    ["ETIMEDOUT", "timeout"],
  ];
  for (const [code, kind] of rows) assert.equal(failureOf(errorWith(code)).kind, kind, code);
});

test("of several addresses of one name, one that the node refused decides, in whatever order", () => {
  const errors = [errorWith("EADDRNOTAVAIL"), errorWith("ECONNREFUSED")];
  for (const order of [errors, errors.toReversed()]) assert.equal(failureOf(new AggregateError(order)).kind, "refused");
});

test("if this machine caused the failures of all addresses, the first one is reported", () => {
  assert.deepEqual(failureOf(new AggregateError([errorWith("EMFILE"), errorWith("ENOBUFS")])), {
    kind: "not_sent",
    detail: "EMFILE: connect EMFILE",
  });
});

test("what is no error, or has a code that is no text, counts as an unreadable response", () => {
  const rows: readonly (readonly [unknown, string])[] = [
    ["out of order", "Error: out of order"],
    [new AggregateError(["out of order"], "all failed"), "AggregateError: all failed"],
    [new AggregateError([], "all failed"), "AggregateError: all failed"],
    [Object.assign(new Error("out of order"), { code: 5 }), "Error: out of order"],
  ];
  for (const [thrown, detail] of rows) assert.deepEqual(failureOf(thrown), { kind: "body", detail });
});

for (const [code, message, kind, detail] of [
  ["ECONNREFUSED", "connect ECONNREFUSED 10.0.0.1:8008", "refused", "connection refused"],
  ["ECONNRESET", "read ECONNRESET", "reset", "connection reset by the node"],
  ["EPIPE", "write EPIPE", "reset", "connection reset by the node"],
  ["UND_ERR_SOCKET", "other side closed", "reset", "connection closed by the node before its answer"],
  [
    "UND_ERR_CONNECT_TIMEOUT",
    "Connect Timeout Error (attempted address: 10.0.0.1:8008, timeout: 500ms)",
    "timeout",
    "no connection within 500 ms",
  ],
  ["UND_ERR_CONNECT_TIMEOUT", "Connect Timeout Error", "timeout", "no connection in time"],
  ["ETIMEDOUT", "connect ETIMEDOUT 10.0.0.1:8008", "timeout", "no connection: the node does not answer"],
  ["EHOSTUNREACH", "connect EHOSTUNREACH 10.0.0.1:8008", "unreachable", "no route to the host"],
  ["ENETUNREACH", "connect ENETUNREACH 10.0.0.1:8008", "unreachable", "network unreachable"],
  ["ENOTFOUND", "getaddrinfo ENOTFOUND pg1.example.com", "unreachable", "host name not found: pg1.example.com"],
  ["ENOTFOUND", "", "unreachable", "host name not found"],
  ["EAI_AGAIN", "getaddrinfo EAI_AGAIN pg1.example.com", "unreachable", "name server does not answer: pg1.example.com"],
] as const)
  test(`${code} (${message}) reads "${detail}"`, () => {
    const error = Object.assign(new Error(message), { code });
    assert.deepEqual(failureOf(error), { kind, detail });
    assert.equal(failureOf(new AggregateError([error, new Error("other")])).kind, kind);
  });

test("a connection attempt that undici gives up has the text that the words are taken from", async (context) => {
  // A lookup that never answers leaves undici waiting for its own limit.
  const client = new Client("http://pg1.example.com", { connect: { timeout: 50, lookup: () => {} } });
  // The timers of undici do not keep a process alive.
  const alive = setInterval(() => {}, 1_000);
  context.after(() => {
    clearInterval(alive);
    return client.destroy();
  });
  const thrown: unknown = await client.request({ path: "/", method: "GET" }).catch((error: unknown) => error);
  assert.equal(failureOf(thrown).detail, "no connection within 50 ms");
});

for (const [code, kind] of [
  ["UND_ERR_HEADERS_OVERFLOW", "too_large"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "tls"],
  ["HPE_INVALID_CONSTANT", "body"],
] as const) {
  test(`${code} is a failure of the kind ${kind}`, () => {
    const error = Object.assign(new Error("what happened"), { code });
    assert.deepEqual(failureOf(error), { kind, detail: `${code}: what happened` });
    assert.equal(failureOf(new AggregateError([error, new Error("other")])).kind, kind);
  });
}

for (const code of [
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
])
  test(`${code} says how to name the authority`, () => {
    const { kind, detail } = failureOf(errorWith(code));
    assert.equal(kind, "tls");
    assert.match(
      detail,
      /^certificate not trusted, .* tls\.ca of the cluster, or with --node-ca beside --discover \(.*\)$/,
    );
  });

test("an unknown error counts as an unreadable response, described in at most 200 characters", () => {
  const { kind, detail } = failureOf(new TypeError("x".repeat(1_000)));
  assert.equal(kind, "body");
  assert.equal(detail.length, 200);
});
