import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { neverLooked, nextPhase, type DifferencePhase, type Seen } from "../../../../src/features/audit/core/phase.ts";

interface Row {
  readonly given: string;
  readonly delay: number;
  readonly looks: readonly (readonly [nowMs: number, seen: Seen, sinceMs?: number])[];
  readonly to: readonly DifferencePhase["kind"][];
  readonly since?: number;
}

const rows: readonly Row[] = parse(readFileSync("test/spec/audit/phases.yaml", "utf8"));

describe("a difference from look to look", () => {
  for (const { given, delay: delayMs, looks, to, since } of rows) {
    test(given, () => {
      let phase: DifferencePhase = neverLooked;
      const kinds = looks.map(([nowMs, seen, sinceMs = -Infinity]) => {
        phase = nextPhase(phase, seen, { nowMs, sinceMs, delayMs });
        return phase.kind;
      });
      assert.deepEqual(kinds, to);
      if (since !== undefined) assert.equal("sinceMs" in phase ? phase.sinceMs : null, since);
    });
  }
});
