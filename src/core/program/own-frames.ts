import { readProgramFile, isExecutable } from "./program-files.ts";

/** Where the modules of one bundled file begin: `[line, file]` pairs in ascending order; other code has no file. */
type ModuleStarts = readonly (readonly [line: number, file: string | null])[];

/** The folder of the modules or bundles, as stacks name it; `null` in the executable. */
const codeFolder: string | null = isExecutable ? null : new URL("../..", import.meta.url).href;
/** Written by packaging/bundle.mjs: the modules of each bundled file, by the file's name. */
const tableName = "dist/modules.json";

let table: ReadonlyMap<string, ModuleStarts> | null = null;

/**
 * Returns the module of rolecall that a frame of a stack is in.
 * @param frame one line of a stack, such as `    at work (file:///srv/dist/core/state/store.js:1:2)`
 * @returns its path without extension below `src`, such as `core/state/store`; `null` for a frame of Node or of a package
 */
export function ownModuleOf(frame: string): string | null {
  const { file, line } = placeOf(frame);
  // The bundle of the executable has a name without a folder.
  if (codeFolder !== null && !file.startsWith(codeFolder)) return null;
  const starts = bundles().get(file.slice(file.lastIndexOf("/") + 1));
  if (starts !== undefined) return starts.findLast(([start]) => start <= line)?.[1] ?? null;
  return codeFolder === null ? null : file.slice(codeFolder.length).replace(/\.[jt]s$/, "");
}

function placeOf(frame: string): { readonly file: string; readonly line: number } {
  const [, file = "", line = "0"] =
    /(?:\(|at (?:async )?)((?:file|node):.*|[^()\s][^()]*):(\d+):\d+\)?$/.exec(frame) ?? [];
  return { file, line: Number(line) };
}

/** Read when the first exception needs it: a program without uncaught exceptions never does. */
function bundles(): ReadonlyMap<string, ModuleStarts> {
  if (table === null) {
    const text = readProgramFile(tableName)?.toString() ?? "{}";
    const entries: Readonly<Record<string, ModuleStarts>> = JSON.parse(text);
    table = new Map(Object.entries(entries));
  }
  return table;
}
