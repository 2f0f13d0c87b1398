/**
 * Runs inside each process of rolecall during a soak (`node --import`): appends what the process holds to
 * `$SOAK_SAMPLES/PID.jsonl`. It keeps no descriptor open, and its one timer does not keep the process alive.
 */
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import { getHeapStatistics } from "node:v8";
import * as v8 from "node:v8";
import type { ProcessSample } from "./sample.ts";

/** `v8.queryObjects` (Node 20.13 or later) collects garbage first, then counts or lists the instances of a class. */
interface ObjectQueries {
  queryObjects(constructor: unknown, options: { readonly format: "count" }): number;
  queryObjects(constructor: unknown, options: { readonly format: "summary" }): readonly string[];
}

const folder = process.env["SOAK_SAMPLES"];
const sampleMs = 5_000;
/** Each so many samples the garbage is collected and objects are counted: it stops the process for a moment. */
const samplesPerCensus = 2;
/** A process that starts has enough to do without a census. */
const samplesOfStart = 12;

if (folder !== undefined && isMainThread) start(folder);

function start(samples: string): void {
  const file = `${samples}/${process.pid}.jsonl`;
  const kind = process.send === undefined ? "main" : "worker";
  const problems: string[] = [];
  // A monitor changes nothing about the handling of exceptions.
  process.on("uncaughtExceptionMonitor", (error, origin) => problems.push(`${origin}: ${error.stack}`));
  process.on("warning", ({ name, message }) => {
    if (!message.includes("v8.queryObjects")) problems.push(`warning: ${name}: ${message}`);
  });
  let count = 0;
  let dueMs = performance.now() + sampleMs;
  const write = (): void => {
    const lateMs = Math.max(0, performance.now() - dueMs);
    const isCensus = count >= samplesOfStart && count % samplesPerCensus === 0;
    count += 1;
    const sample: ProcessSample = {
      atMs: Date.now(),
      pid: process.pid,
      kind,
      lateMs: Math.round(lateMs),
      ...(isCensus ? censusOf() : {}),
      ...usageOf(),
      problems: problems.splice(0),
    };
    appendFileSync(file, `${JSON.stringify(sample)}\n`);
    dueMs = performance.now() + sampleMs;
  };
  const timer = setInterval(write, sampleMs).unref();
  // What happened since the last sample must not be lost.
  process.once("exit", () => {
    clearInterval(timer);
    if (problems.length > 0) write();
  });
}

function usageOf(): Pick<ProcessSample, "usage" | "resources"> {
  const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage();
  const resources: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
  const threads = Number(/^Threads:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
  const descriptors = readdirSync("/proc/self/fd").length;
  const contexts = getHeapStatistics().number_of_native_contexts;
  const handles = Object.values(resources).reduce((sum, each) => sum + each, 0);
  return {
    usage: { rss, heapTotal, heapUsed, external, arrayBuffers, descriptors, threads, contexts, handles },
    resources,
  };
}

/** What is alive after a full collection of garbage, timers that do not keep the process alive included. */
function censusOf(): Pick<ProcessSample, "census"> {
  const { queryObjects } = v8 as unknown as Partial<ObjectQueries>;
  if (queryObjects === undefined) return {};
  const timeout = setTimeout(() => {}, 0);
  clearTimeout(timeout);
  const promises = queryObjects(Promise, { format: "summary" });
  const unsettled = promises.filter((text) => text.includes("<pending>")).length;
  const timers = queryObjects(timeout.constructor, { format: "count" });
  return { census: { promises: promises.length, unsettled, timers, liveHeap: process.memoryUsage().heapUsed } };
}
