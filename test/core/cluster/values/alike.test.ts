/** Durations and sizes mean the same in options, in the configuration, in queries and in times ago. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Arguments } from "../../../../src/core/command/framework/arguments.ts";
import { parseByteSize } from "../../../../src/core/cluster/values/byte-size.ts";
import { parseDuration } from "../../../../src/core/cluster/values/duration.ts";
import { parsePastTime } from "../../../../src/core/command/client/past-time.ts";
import { byteSize, duration } from "../../../../src/core/config/schema/value-schemas.ts";
import { parseCheck } from "../../../../src/core/health/check.ts";
import { parseEventQuery } from "../../../../src/core/http/diagnostics/event-query.ts";

const nowMs = Date.parse("2026-01-31T12:00:00Z");
const rules = { ignoreParams: [], ignoresUnknown: false, defaults: "", lagTimeMsMin: 0 };

/** What each reader makes of a duration, in ms; `null`: it refuses it. */
function durationsOf(text: string): Readonly<Record<string, number | null>> {
  const check = parseCheck("replica", `lag_time=${text}`, rules);
  const events = parseEventQuery(new URLSearchParams({ since: text }), [], nowMs);
  return {
    value: parseDuration(text) ?? null,
    option: valueOf(() => new Arguments([], new Map([["for", [text]]]), new Set()).duration("for", "1s")),
    ago: valueOf(() => nowMs - parsePastTime("since", text, nowMs)),
    file: duration("1ms", "30d").safeParse(text).data ?? null,
    "lag_time=": check.ok ? check.check.lagTimeMsMax : null,
    "since=": "sinceMs" in events ? nowMs - events.sinceMs : null,
  };
}

function valueOf(read: () => number): number | null {
  try {
    return read();
  } catch {
    return null;
  }
}

for (const [text, ms] of Object.entries({
  "500ms": 500,
  "1.5s": 1_500,
  "2m": 120_000,
  "2min": 120_000,
  "0.5m": 30_000,
  "3h": 10_800_000,
  "14d": 1_209_600_000,
  "5": null,
  m: null,
  "5M": null,
  "-5s": null,
  "5mins": null,
}))
  test(`${text} is ${ms} ms for every reader`, () => {
    const found = durationsOf(text);
    assert.deepEqual(found, Object.fromEntries(Object.keys(found).map((reader) => [reader, ms])));
  });

for (const [text, bytes] of Object.entries({
  "1048576": 1_048_576,
  "16kB": 16_384,
  "1.5MB": 1_572_864,
  "1 MB": 1_048_576,
  "1mb": 1_048_576,
  "0x400": 1_024,
  "2GB": 2_147_483_648,
  "16K": null,
  big: null,
  "": null,
}))
  test(`${JSON.stringify(text)} is ${bytes} bytes for every reader`, () => {
    const check = parseCheck("replica", `lag=${encodeURIComponent(text)}`, rules);
    const found = {
      value: text === "" ? null : (parseByteSize(text) ?? null),
      file: byteSize("1B", "1TB").safeParse(text).data ?? null,
      "lag=": check.ok ? check.check.lagBytesMax : null,
    };
    assert.deepEqual(found, { value: bytes, file: bytes, "lag=": bytes });
  });
