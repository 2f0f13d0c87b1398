import assert from "node:assert/strict";
import { test } from "node:test";
import { countWorkers } from "../../../src/core/workers/worker-count.ts";

const rows: readonly (readonly [configured: number | "auto", nodes: number, processors: number, workers: number])[] = [
  ["auto", 0, 8, 0],
  ["auto", 200, 8, 0],
  ["auto", 201, 8, 1],
  ["auto", 201, 2, 1],
  ["auto", 201, 1.5, 0],
  ["auto", 201, 1, 0],
  ["auto", 1_000, 0.5, 0],
  ["auto", 10_000, 64, 1],
  [0, 10_000, 64, 0],
  [3, 1, 1, 3],
];

for (const [configured, nodes, processors, workers] of rows)
  test(`workers: ${configured} with ${nodes} nodes on ${processors} processors: ${workers}`, () => {
    assert.equal(countWorkers(configured, nodes, processors), workers);
  });
