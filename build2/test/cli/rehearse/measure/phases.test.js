import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "yaml";
import { lateWrites, outageOf, phasesOf } from "../../../../src/cli/rehearse/measure/phases.js";
import { recordingOf } from "../../../fake/rehearsal-recording.js";
const cases = parse(readFileSync("test/spec/cli/rehearsals.yaml", "utf8"));
for (const row of cases)
    test(`phases of ${row.case}`, () => {
        const recording = recordingOf(row);
        const found = phasesOf(recording).map(({ phase, node, afterRequestMs, resolutionMs, source }) => [
            phase,
            [node, afterRequestMs, resolutionMs, source],
        ]);
        assert.deepEqual(found, Object.entries(row.phases));
        assert.equal(outageOf(recording)?.outageMs ?? null, row.outage);
        assert.equal(lateWrites(recording).length, row.late);
    });
//# sourceMappingURL=phases.test.js.map