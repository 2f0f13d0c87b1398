/**
 * Preloaded into a Node program (`node --import`): counts what it allocates, and what of it survives. Answers every line
 * on stdin with what was collected since the last line, as JSON. It counts by what V8 states of the heap before and after
 * each collection, so other work on the machine changes nothing of the bytes.
 */
import { createInterface } from "node:readline";
import { GCProfiler, type GCProfilerResult } from "node:v8";

type HeapBytes = GCProfilerResult["statistics"][number]["beforeGC"];

/** What a program has left to the garbage collector. */
export interface Collected {
  /** In bytes. */
  readonly allocated: number;
  /** What scavenges copied, in bytes: an object that survives two of them counts twice. */
  readonly survived: number;
  readonly scavenges: number;
  /** How long each collection stopped the program, in ms. */
  readonly pausesMs: readonly number[];
}

let profiler = new GCProfiler();
let usedBefore = process.memoryUsage().heapUsed;
profiler.start();

createInterface(process.stdin).on("line", () => {
  const { statistics } = profiler.stop();
  const used = process.memoryUsage().heapUsed;
  profiler = new GCProfiler();
  profiler.start();
  process.stdout.write(`${JSON.stringify(collectedIn(statistics, usedBefore, used))}\n`);
  usedBefore = process.memoryUsage().heapUsed;
});

function collectedIn(collections: GCProfilerResult["statistics"], before: number, after: number): Collected {
  let [allocated, survived, used] = [0, 0, before];
  const scavenges = collections.filter(({ gcType }) => gcType === "Scavenge");
  for (const { beforeGC, afterGC } of collections) {
    allocated += beforeGC.heapStatistics.usedHeapSize - used;
    used = afterGC.heapStatistics.usedHeapSize;
  }
  for (const { beforeGC, afterGC } of scavenges)
    survived +=
      bytesIn(afterGC, "new_space") + Math.max(0, bytesIn(afterGC, "old_space") - bytesIn(beforeGC, "old_space"));
  // V8 states them in microseconds.
  const pausesMs = collections.map(({ cost }) => cost / 1_000);
  return { allocated: allocated + after - used, survived, scavenges: scavenges.length, pausesMs };
}

function bytesIn({ heapSpaceStatistics }: HeapBytes, space: string): number {
  return heapSpaceStatistics.find(({ spaceName }) => spaceName === space)?.spaceUsedSize ?? 0;
}
