import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { countEdges } from "../../../src/core/balancing/haproxy-sections.ts";
import { renderClusters } from "../../fake/rendered-rows.ts";

for (const [edges, count] of [
  ["10.0.0.11:8008", 1],
  ["10.0.0.11:8008,10.0.0.12:8008", 2],
] as const)
  test(`a file that was rendered with --edge ${edges} has ${count} edges`, async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "rolecall-edges-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const { out } = await renderClusters(folder, { kind: "haproxy", clusters: "three", args: ["--edge", edges] });
    assert.equal(countEdges(out), count);
  });

test("the example has two edges, and a file of another shape says nothing about edges", () => {
  assert.equal(countEdges(readFileSync("config/examples/haproxy.cfg", "utf8")), 2);
  assert.equal(countEdges("backend b\n  server rolecall1 10.0.0.11:8008\n"), null);
  assert.equal(countEdges(""), null);
});
