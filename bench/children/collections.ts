/**
 * Preloaded into a Node program (`node --import`): counts what it allocates, and what of it survives. Answers every line
 * on stdin with the bytes since the last line, as JSON. It counts by what V8 states of the heap before and after each
 * collection, so other work on the machine changes nothing.
 */
import { createInterface } from "node:readline";
import { GCProfiler, type GCProfilerResult } from "node:v8";

type HeapBytes = GCProfilerResult["statistics"][number]["beforeGC"];

/** What a program has allocated, in bytes. */
export interface AllocatedBytes {
  readonly allocated: number;
  /** What scavenges copied: an object that survives two of them counts twice. */
  readonly survived: number;
  readonly scavenges: number;
}

let profiler = new GCProfiler();
let usedBefore = process.memoryUsage().heapUsed;
profiler.start();

createInterface(process.stdin).on("line", () => {
  const { statistics } = profiler.stop();
  const used = process.memoryUsage().heapUsed;
  profiler = new GCProfiler();
  profiler.start();
  process.stdout.write(`${JSON.stringify(bytesOf(statistics, usedBefore, used))}\n`);
  usedBefore = process.memoryUsage().heapUsed;
});

function bytesOf(collections: GCProfilerResult["statistics"], before: number, after: number): AllocatedBytes {
  let [allocated, survived, used] = [0, 0, before];
  const scavenges = collections.filter(({ gcType }) => gcType === "Scavenge");
  for (const { beforeGC, afterGC } of collections) {
    allocated += beforeGC.heapStatistics.usedHeapSize - used;
    used = afterGC.heapStatistics.usedHeapSize;
  }
  for (const { beforeGC, afterGC } of scavenges)
    survived +=
      bytesIn(afterGC, "new_space") + Math.max(0, bytesIn(afterGC, "old_space") - bytesIn(beforeGC, "old_space"));
  return { allocated: allocated + after - used, survived, scavenges: scavenges.length };
}

function bytesIn({ heapSpaceStatistics }: HeapBytes, space: string): number {
  return heapSpaceStatistics.find(({ spaceName }) => spaceName === space)?.spaceUsedSize ?? 0;
}
