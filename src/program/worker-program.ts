import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isExecutable } from "./program-files.ts";

/** The first argument of a single executable that is started as a worker: no command has this name. */
const workerArgument = "--worker-process";

/** What `child_process.fork` needs to start a worker. */
export interface WorkerProgram {
  /** The module of a worker; the single executable is its own module, and takes this as its first argument. */
  readonly module: string;
  /** Options of Node and V8 on the command line. */
  readonly execArgv: readonly string[];
}

/**
 * Finds the program of a worker.
 * @param flags options of Node and V8 for the worker; the single executable takes them from its environment only
 * @throws Error if the package has no such program
 */
export function workerProgram(flags: readonly string[]): WorkerProgram {
  if (isExecutable) return { module: workerArgument, execArgv: [] };
  // The second place is that of a module in a bundle.
  const files = ["../app/worker.js", "./app/worker.js"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const module = files.find(existsSync);
  if (module === undefined) throw new Error(`Cannot start a worker: one of ${files.join(", ")} must exist`);
  return { module, execArgv: flags };
}

/** Whether this process is a worker that the single executable started. */
export function isWorkerOfExecutable(): boolean {
  return isExecutable && process.argv[2] === workerArgument && process.send !== undefined;
}
