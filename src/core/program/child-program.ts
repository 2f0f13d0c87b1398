import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isExecutable } from "./program-files.ts";

/** The processes that the program starts beside its main process. */
const programs = { worker: "app/worker.js", guardian: "app/registry/guardian.js" } as const;
export type ChildKind = keyof typeof programs;

/** What `child_process.fork` needs to start a process of the program. */
export interface ChildProgram {
  /** The module; the single executable is its own module, and takes this as its first argument. */
  readonly module: string;
  /** Options of Node and V8 on the command line. */
  readonly execArgv: readonly string[];
}

/**
 * Finds the program of a child process.
 * @param flags options of Node and V8 for it; the single executable takes them from its environment only
 * @throws Error if the package has no such program
 */
export function childProgram(kind: ChildKind, flags: readonly string[]): ChildProgram {
  if (isExecutable) return { module: argumentOf(kind), execArgv: [] };
  // The second place is that of a module in a bundle.
  const files = [`../../${programs[kind]}`, `./${programs[kind]}`].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  const module = files.find(existsSync);
  if (module === undefined) throw new Error(`Cannot start a ${kind}: one of ${files.join(", ")} must exist`);
  return { module, execArgv: flags };
}

/** Which child process of the single executable this process is; `null` if it is none. */
export function childKindOfExecutable(): ChildKind | null {
  if (!isExecutable || process.send === undefined) return null;
  const [, , first] = process.argv;
  if (first === argumentOf("worker")) return "worker";
  return first === argumentOf("guardian") ? "guardian" : null;
}

/** The first argument of a single executable that is started as a child process: no command has this name. */
function argumentOf(kind: ChildKind): string {
  return `--${kind}-process`;
}
