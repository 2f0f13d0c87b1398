import assert from "node:assert/strict";
import { test } from "node:test";
import { noFastPathCounts } from "../../../src/core/http/message/fast-path-counts.ts";
import { WorkerStats } from "../../../src/core/workers/worker-stats.ts";

test("keeps the answers and processor time of workers that exited, not their memory", () => {
  const stats = new WorkerStats();
  const answers = [{ route: "primary", status: 200, count: 2 }];
  stats.addExited(
    {
      answers,
      backends: [],
      limits: [],
      asked: [],
      cpuS: 1,
      residentBytes: 10,
      fastPath: noFastPathCounts,
    },
    "lost",
  );
  stats.addExited(
    {
      answers,
      backends: [],
      limits: [],
      asked: [],
      cpuS: 2,
      residentBytes: 20,
      fastPath: noFastPathCounts,
    },
    "left",
  );
  const running = [
    { answers, backends: [], limits: [], asked: [], cpuS: 4, residentBytes: 40, fastPath: noFastPathCounts },
  ];
  assert.equal(stats.usage([]).lost, 1);
  assert.deepEqual(stats.usage(running), { cpuS: 7, residentBytes: 40, count: 1, lost: 1 });
  assert.deepEqual(stats.answers(running), [{ route: "primary", status: 200, count: 4 }, ...answers]);
});
