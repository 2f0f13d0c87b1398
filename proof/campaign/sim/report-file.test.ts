import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import { ReportFile, type ReportedRuns } from "./report-file.ts";
import type { RunResult } from "./simulation.ts";
import { Tally } from "./tally.ts";

const runs: ReportedRuns = { first: 1, last: 100, seconds: 60, kinds: null, modes: null, ttl: null };

function pathIn(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-report-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "report.json");
}

function resultOf(recoveredMs: number): RunResult {
  return { violations: [], simulatedMs: 55_000, answers: 10, recoveredMs: [recoveredMs], story: [], movedAway: false };
}

suite("the report of a campaign", () => {
  test("continues after the last seed with everything that was counted", (context) => {
    const path = pathIn(context);
    const report = new ReportFile(path, runs);
    assert.equal(report.next, 1);
    const tally = new Tally(report.tally);
    tally.armed.set("lag", 3);
    tally.add(resultOf(1_950));
    report.violations.push("npm run campaign -- --seed 7 --seconds 60");
    report.save(7, tally.saved());

    const again = new ReportFile(path, runs);
    assert.equal(again.next, 8);
    assert.deepEqual(again.violations, ["npm run campaign -- --seed 7 --seconds 60"]);
    const continued = new Tally(again.tally);
    continued.add(resultOf(4_000));
    const [total, answers, , , promises] = continued.lines();
    assert.match(total ?? "", /^2 runs, 110 virtual s /);
    assert.equal(answers, "20 answers judged; recovery: half within 2.0 s, 99 % within 4.0 s, longest 4.0 s");
    assert.equal(promises, "promises that had to hold: lag 3");
  });

  test("refuses a file of other runs", (context) => {
    const path = pathIn(context);
    new ReportFile(path, runs).save(1, new Tally().saved());
    assert.throws(
      () => new ReportFile(path, { ...runs, last: 200 }),
      /Cannot continue .*"last":200.*, got .*"last":100/,
    );
  });
});
