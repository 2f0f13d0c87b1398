import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "yaml";
import { lateWrites, outageOf, phasesOf } from "../../../../src/cli/rehearse/measure/phases.ts";
import type { Recording } from "../../../../src/cli/rehearse/measure/recording.ts";
import { recordingOf, type RecordingRow } from "../../../fake/rehearsal-recording.ts";

interface Case extends RecordingRow {
  readonly case: string;
  /** `phase: [node, time after the request, resolution, source]`; `null` for what was not seen. */
  readonly phases: Readonly<Record<string, readonly [string | null, number | null, number | null, string]>>;
  readonly outage: number | null;
  readonly late: number;
}

const cases: readonly Case[] = parse(readFileSync("test/spec/cli/rehearsals.yaml", "utf8"));

for (const row of cases)
  test(`phases of ${row.case}`, () => {
    const recording: Recording = recordingOf(row);
    const found = phasesOf(recording).map(({ phase, node, afterRequestMs, resolutionMs, source }) => [
      phase,
      [node, afterRequestMs, resolutionMs, source],
    ]);
    assert.deepEqual(found, Object.entries(row.phases));
    assert.equal(outageOf(recording)?.outageMs ?? null, row.outage);
    assert.equal(lateWrites(recording).length, row.late);
  });
