import assert from "node:assert/strict";
import { test } from "node:test";
import { parseReport } from "../../../../src/core/cluster/documents/report.ts";
import { LastReports } from "../../../../src/features/follow/feed/last-reports.ts";

const report = parseReport({ state: "running", role: "replica" }) ?? assert.fail("the document must be one of a node");

test("the reports of nodes that are gone are forgotten, those of others are not", () => {
  const last = new LastReports({ forgetMs: 300_000, charactersMax: 1_000_000 });
  // A thousand nodes of which each lives for a minute, beside one that stays.
  for (let second = 0; second < 6_000; second += 1) {
    const atMs = second * 1_000;
    last.set("demo", "stays", { report, atMs });
    last.set("demo", `pg${Math.floor(second / 60)}`, { report, atMs });
  }
  assert.equal(last.get("demo", "stays"), report);
  assert.equal(last.get("demo", "pg99"), report);
  const kept = Array.from({ length: 100 }, (_, at) => last.get("demo", `pg${at}`)).filter((one) => one !== undefined);
  assert.ok(kept.length <= 7, `${kept.length} are kept`);
});

test("names with slashes are not mistaken for each other", () => {
  const last = new LastReports({ forgetMs: 300_000, charactersMax: 1_000_000 });
  last.set("a/b", "c", { report, atMs: 0 });
  assert.equal(last.get("a", "b/c"), undefined);
});

test("more than a limit together are not remembered: the oldest are forgotten", () => {
  const size = '["demo","pg1"]'.length + report.document.length;
  const last = new LastReports({ forgetMs: 300_000, charactersMax: 3 * size });
  for (const node of ["pg1", "pg2", "pg3", "pg1", "pg1", "pg4"]) last.set("demo", node, { report, atMs: 0 });
  const kept = ["pg1", "pg2", "pg3", "pg4"].filter((node) => last.get("demo", node) !== undefined);
  assert.deepEqual(kept, ["pg1", "pg3", "pg4"]);
  last.clear();
  for (const node of ["pg5", "pg6", "pg7"]) last.set("demo", node, { report, atMs: 0 });
  assert.equal(last.get("demo", "pg5"), report);
});
