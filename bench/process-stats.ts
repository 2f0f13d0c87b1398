/** Statistics of processes, from /proc (proc(5)). */
import { readdirSync, readFileSync } from "node:fs";

/** The process and all its descendants: nginx and HAProxy answer in a child. */
export function family(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid).flatMap(family)];
}

/** The processes that any of its threads started. */
export function childrenOf(pid: number): readonly number[] {
  return threadsOf(pid).flatMap((thread) =>
    readOrEmpty(`${thread}/children`).trim().split(" ").filter(Boolean).map(Number),
  );
}

/**
 * Processor time of these processes so far, all threads, in ms: the first field of schedstat is the time on a core, in
 * ns.
 */
export function cpuMsOf(pids: readonly number[]): number {
  const threads = pids.flatMap(threadsOf);
  return threads.reduce((sum, thread) => sum + Number(readOrEmpty(`${thread}/schedstat`).split(" ")[0]) / 1e6, 0);
}

/** Resident memory of one process, in MiB; `Pss` counts what it shares with others only in part. */
export function memoryMbOf(pid: number, what: "Rss" | "Pss" | "Anonymous" = "Rss"): number {
  const kb = new RegExp(`^${what}:\\s+(\\d+) kB`, "m").exec(readOrEmpty(`/proc/${pid}/smaps_rollup`))?.[1];
  return Number(kb) / 1024;
}

/** Resident memory of processes that run the same program, in MiB. */
export interface HeldMemory {
  /** Anonymous memory of all of them. */
  readonly ownMb: number;
  /** Pages of files, in the process that has most: processes share them, and other programs may too. */
  readonly fileMb: number;
}

/** The memory that these processes hold. What they share counts once. */
export function heldMbOf(pids: readonly number[]): HeldMemory {
  const each = pids.map((pid) => ({ all: memoryMbOf(pid), own: memoryMbOf(pid, "Anonymous") }));
  return {
    ownMb: each.reduce((sum, { own }) => sum + own, 0),
    fileMb: Math.max(...each.map(({ all, own }) => all - own)),
  };
}

/** The clock ticks of a core so far, and the idle ones among them. */
export function ticksOf(core: number): { readonly all: number; readonly idle: number } {
  const line = new RegExp(`^cpu${core} (.*)$`, "m").exec(readOrEmpty("/proc/stat"))?.[1] ?? "";
  const fields = line.split(" ").slice(0, 8).map(Number); // user to steal; what follows is counted in user
  return { all: fields.reduce((sum, each) => sum + each, 0), idle: (fields[3] ?? 0) + (fields[4] ?? 0) };
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
  } catch {
    return []; // it has ended
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
