import assert from "node:assert/strict";
import { test } from "node:test";
import type { CellResult } from "./cell.ts";
import { faultReportOf } from "./fault-report.ts";

const result: CellResult = {
  fault: "rolecall killed",
  state: "switching",
  met: "requested",
  outcome: "switched",
  text: "pg2 is the primary, and clients go on there.",
  exitCode: 0,
  pausedMs: 1_234,
  resumedBy: ["guardian", "peer"],
  acknowledged: 5_000,
  failed: 7,
  worstWaitMs: 2_345,
  lost: 0,
  recoveredMs: 3_456,
  alertSeen: null,
  broken: [],
};

test("the newest result of each fault and state is a row, each fault is one, and what is broken is listed", () => {
  const older = { ...result, failed: 100 };
  const bad = {
    ...result,
    state: "routing",
    outcome: "unknown",
    exitCode: null,
    broken: ["pgb1 is still paused"],
  } as const;
  assert.equal(
    faultReportOf([bad, older, result]),
    [
      "| fault | state | outcome | exit | longest pause | resumed by | failed | longest wait | bounds |",
      "| --- | --- | --- | --: | --: | --- | --: | --: | --- |",
      "| rolecall killed | switching | switched | 0 | 1.23 s | guardian, peer | 7 | 2.35 s | held |",
      "| rolecall killed | routing | unknown | – | 1.23 s | guardian, peer | 7 | 2.35 s | **broken** |",
      "",
      "| fault | states | outcome | exit | longest pause | resumed by | failed | longest wait | bounds |",
      "| --- | --- | --- | --: | --: | --- | --: | --: | --- |",
      "| rolecall killed | switching, routing | switched, unknown | 0, – | 1.23 s | guardian, peer | 7 | 2.35 s | **broken in 1** |",
      "",
      '* "pg2 is the primary, and clients go on there.": rolecall killed (switching), rolecall killed (routing)',
      "",
      "* rolecall killed, routing: pgb1 is still paused",
    ].join("\n"),
  );
});
