import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parseCheck, parseDatabaseAddress, type Check, type CheckRules } from "../../../src/core/health/check.ts";

const rules: CheckRules = { ignoreParams: [], ignoresUnknown: false, defaults: "", lagTimeMsMin: 2_000 };

/** One field of a check with this query; "refused" if it cannot be parsed. */
function parsed<K extends keyof Check>(key: K, query: string, more: Partial<CheckRules> = {}): Check[K] | "refused" {
  const result = parseCheck("replica", query, { ...rules, ...more });
  return result.ok ? result.check[key] : "refused";
}

suite("a parameter of a check", () => {
  const rows: readonly (readonly [key: keyof Check, query: string, value: unknown])[] = [
    ["keep", "", 0],
    ["keep", "keep=0", "refused"],
    ["keep", "keep=1", 1],
    ["keep", "keep=1000", 1_000],
    ["keep", "keep=1001", "refused"],
    ["keep", "keep=", "refused"],
    ["missStatus", "", 503],
    ["missStatus", "miss=399", "refused"],
    ["missStatus", "miss=400", 400],
    ["missStatus", "miss=599", 599],
    ["missStatus", "miss=600", "refused"],
    ["unknownStatus", "", 503],
    ["unknownStatus", "unknown=399", "refused"],
    ["unknownStatus", "unknown=400", 400],
    ["unknownStatus", "unknown=599", 599],
    ["unknownStatus", "unknown=600", "refused"],
    ["mode", "mode=apply", "apply"],
    ["mode", "mode=write", "write"],
    ["mode", "mode=read", "refused"],
    ["mode", "mode=", "apply"],
    ["fallbackPrimary", "fallback=primary", true],
    ["fallbackPrimary", "fallback=replica", "refused"],
    ["zones", "", []],
    ["zones", "zone=a", ["a"]],
    ["zones", "zone=eu-1a,eu-1b,eu-1a", ["eu-1a", "eu-1b"]],
    ["zones", "zone=a%2Cb", ["a", "b"]],
    ["zones", "zone=", "refused"],
    ["zones", "zone=a,", "refused"],
    ["zones", "zone=a+b", "refused"],
    ["zones", "zone=a;b", "refused"],
    ["zones", "zone=-a", "refused"],
    ["zones", "zone=a&zone=a", "refused"],
    ["zones", `zone=${"a".repeat(63)}`, ["a".repeat(63)]],
    ["zones", `zone=${"a".repeat(64)}`, "refused"],
    ["zones", `zone=${Array.from({ length: 17 }, (_, at) => `z${at}`).join(",")}`, "refused"],
    ["isForSessions", "", false],
    ["isForSessions", "for=sessions", true],
    ["isForSessions", "lag=1&keep=1&for=sessions&fallback=primary", true],
    ["isForSessions", "for=session", "refused"],
    ["isForSessions", "for=", "refused"],
    ["isForSessions", "for=Sessions", "refused"],
    ["isForSessions", "for=sessions&for=sessions", "refused"],
    ["lagTimeMsMax", "lag_time=1999ms", "refused"],
    ["lagTimeMsMax", "lag_time=2s", 2_000],
    ["lagBytesMax", "lag=", "refused"],
    ["lagBytesMax", "lag=1&lag=2", "refused"],
    ["lagBytesMax", "lag=1GB&lag=1MB", "refused"],
    ["lagBytesMax", "lag=1&lag=1", "refused"],
    ["lagBytesMax", "lag=1&lag_time=2s&lag=1", "refused"],
    ["minLsn", "min_lsn=0/10&min_lsn=0/10", "refused"],
    ["keep", "keep=1&keep=1", "refused"],
    ["missStatus", "miss=404&miss=404", "refused"],
    ["tags", "tag_zone=a&tag_zone=a", [["zone", "a"]]],
    ["lagBytesMax", "lag=1&mode=apply&mode=write", 1],
    ["mode", "mode=write&mode=apply", "write"],
    ["lagTimeMsMax", "lag_time=2s&lag_time=3s", "refused"],
    ["replicationState", "replication_state=", null],
    ["replicationState", "replication_state=streaming", "streaming"],
    [
      "tags",
      "tag_zone=a&tag_empty=&tag_zone=b&tag_rack=c",
      [
        ["zone", "a"],
        ["rack", "c"],
      ],
    ],
    ["minLsn", "min_lsn=0/10", { timeline: null, position: 16 }],
    ["minLsn", "min_lsn=0@0/10", "refused"],
    ["minLsn", "min_lsn=1@0/10", { timeline: 1, position: 16 }],
    ["minLsn", "min_lsn=4294967295@0/10", { timeline: 4_294_967_295, position: 16 }],
    ["minLsn", "min_lsn=4294967296@0/10", "refused"],
    ["minLsn", "min_lsn=1@", "refused"],
    ["keep", "other=1", "refused"],
  ];
  for (const [key, query, value] of rows) test(`${query}: ${key}`, () => assert.deepEqual(parsed(key, query), value));
});

test("a default counts where the check does not state the parameter", () => {
  const defaults = "lag=5&keep=2";
  assert.deepEqual([parsed("lagBytesMax", "", { defaults }), parsed("lagBytesMax", "lag=7", { defaults })], [5, 7]);
  assert.equal(parsed("keep", "lag=7", { defaults }), 2);
});

test("a listener ignores the parameters that its configuration names, and unknown ones if it is bound to one node", () => {
  assert.equal(parsed("keep", "lag=wrong&keep=1", { ignoreParams: ["lag"] }), 1);
  assert.equal(parsed("keep", "other=1&keep=1", { ignoresUnknown: true }), 1);
  assert.equal(parsed("keep", "lag=wrong&keep=1", { ignoresUnknown: true }), "refused");
});

test("a limit that is given twice has its first value on a listener that is bound to one node, as on nodes", () => {
  for (const query of ["lag=1&lag=2", "lag=1&lag=1"]) {
    assert.equal(parsed("lagBytesMax", query, { ignoresUnknown: true }), 1);
    assert.equal(parsed("lagBytesMax", query, { defaults: "lag=1" }), "refused");
    assert.equal(parsed("lagBytesMax", query, { ignoreParams: ["lag"] }), null);
  }
  assert.equal(parsed("lagBytesMax", "lag=1", { defaults: "lag=1&lag=1" }), 1);
});

test("a database address has a host and a port from 1 to 65535", () => {
  const rows: readonly (readonly [text: string, host: string | null, port?: number])[] = [
    ["db:0", null],
    ["db:1", "db", 1],
    ["db:65535", "db", 65_535],
    ["db:65536", null],
    ["[::1]:5432", "::1", 5_432],
    ["::1:5432", null],
    ["db", null],
  ];
  for (const [text, host, port] of rows)
    assert.deepEqual(parseDatabaseAddress(text), host === null ? undefined : { host, port }, text);
});
