import assert from "node:assert/strict";
import { test } from "node:test";
import { plainCheck } from "../../../../src/core/health/check.ts";
import {
  parseServerState,
  takesSessions,
  withServerState,
} from "../../../../src/core/http/node-api/haproxy-server-state.ts";

const header = "UP 1/3; name=pool/pg1; node=lb1; weight=1/2; address=10.0.0.1; port=5432; check_desc=";

test("reads the address and port that HAProxy would route to", () => {
  assert.deepEqual(parseServerState(header), { host: "10.0.0.1", port: 5432 });
  assert.deepEqual(parseServerState("UP; address=2001:db8::1; port=5432"), { host: "2001:db8::1", port: 5432 });
});

test("reads no address from a header that lacks one or names an invalid one", () => {
  for (const text of ["", "UP", "UP; address=10.0.0.1", "UP; port=5432", "UP; address=10.0.0.1; port=99999"])
    assert.equal(parseServerState(text), undefined, text);
});

test("the check's own db parameter takes precedence over the header", () => {
  const check = plainCheck("primary");
  assert.deepEqual(withServerState(check, header).database, { host: "10.0.0.1", port: 5432 });
  assert.equal(withServerState(check, undefined), check);
  const stated = { ...check, database: { host: "10.0.0.9", port: 5433 } };
  assert.equal(withServerState(stated, header), stated);
});

test("whether a server takes new sessions after an answer", () => {
  const cases: readonly (readonly [given: string, status: number, takes: boolean])[] = [
    ["UP; name=w/pg1", 200, true],
    ["UP 2/3; name=w/pg1", 200, true],
    ["UP 2/3; name=w/pg1", 503, true],
    ["UP 1/3; name=w/pg1", 503, false],
    ["UP 1/3; name=w/pg1", 200, true],
    // Whether `fall` is 1 is not in it.
    ["UP; name=w/pg1", 503, true],
    ["DOWN; name=w/pg1", 503, false],
    ["DOWN; name=w/pg1", 200, false],
    ["DOWN 1/3; name=w/pg1", 200, false],
    ["DOWN 2/3; name=w/pg1", 200, true],
    ["DOWN 2/3; name=w/pg1", 503, false],
    ["NOLB; name=w/pg1", 200, false],
    ["no check; name=w/pg1", 200, false],
    ["", 200, false],
  ];
  for (const [given, status, takes] of cases)
    assert.equal(takesSessions(given, status), takes, `${given}, answered ${status}`);
});
