import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { styleFor } from "../../../src/cli/output/style.ts";
import type { RehearsalPlan } from "../../../src/cli/rehearse/plan.ts";
import { planText } from "../../../src/cli/rehearse/plan-text.ts";
import type { Rehearsed } from "../../../src/cli/rehearse/rehearsal.ts";
import { renderRehearsal } from "../../../src/cli/rehearse/report.ts";
import { summarizeRehearsal } from "../../../src/cli/rehearse/summary.ts";
import { recordingOf, type RecordingRow } from "../../fake/rehearsal-recording.ts";
import { statusCluster, statusNode } from "../../fake/status-clusters.ts";

const rows: readonly (RecordingRow & { readonly case: string })[] = parse(
  readFileSync("test/spec/cli/rehearsals.yaml", "utf8"),
);
const pool = {
  host: "10.0.0.5",
  port: 5000,
  database: "app",
  user: "app",
  password: "secret",
  ssl: { mode: "disable" as const },
};
const nodes = ["pg1", "pg2"].map((node, at) => statusNode(node, { database: `10.0.0.${at + 1}:5432`, lag_bytes: 0 }));
const plan: RehearsalPlan = {
  options: {
    pool,
    nodeTargets: new Map(),
    cause: { kind: "switchover", candidate: null },
    writeIntervalMs: 100,
    writeTimeoutMs: 2_000,
    deadlineMs: 120_000,
    maxOutageMs: null,
    edges: null,
  },
  cluster: statusCluster("demo", { timeline: 1, nodes }),
  leader: "pg1",
  call: null,
  pool: {
    target: pool,
    server: { address: "10.0.0.1:5432", pid: 42, isInRecovery: false, timeline: 1 },
    nodeTargets: new Map([
      ["pg1", pool],
      ["pg2", pool],
    ]),
  },
  schema: "rolecall_rehearsal_00000000",
};

test("the plan and the reports have their golden text, without the password", () => {
  const reports = rows.map((row) => {
    const recording = recordingOf(row);
    const rehearsed: Rehearsed = {
      recording,
      requestedAt: new Date(0),
      request: { problem: null, evidence: null },
      missing: row.case.includes("never") ? "no node leads" : null,
      endedAfterMs: 4_000,
      present: new Set(recording.attempts.map(({ n }) => n)),
      skippedWrites: 0,
      probeIntervalMs: 1_000,
    };
    const style = styleFor("never", false, {});
    return `=== ${row.case}\n${renderRehearsal(plan, rehearsed, { summary: summarizeRehearsal(plan, rehearsed), style })}`;
  });
  const actual = [planText(plan), ...reports].join("");
  const file = join("test", "spec", "cli", "golden", "rehearse.txt");
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, actual);
  assert.equal(actual, existsSync(file) ? readFileSync(file, "utf8") : "");
  assert.doesNotMatch(actual, /secret/);
});
