import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Folders of `build/test` whose tests run in one process and need no other. Tests of the judgement come first. */
const folders = [
  "core/health",
  "incidents",
  "core/probe",
  "core/state",
  "sequences",
  // They test what shows verdicts and explanations.
  "core/http/node-api",
  "core/http/message",
  "core/http/diagnostics",
  "features/page",
  "core/events",
];

const importPattern = /(?:\bfrom|\bimport\(?)\s*"(\.[^"]+)"/g;

/** Returns the compiled test files, as absolute paths, that import any of the given compiled files. */
export function testFilesFor(build: string, mutated: ReadonlySet<string>): readonly string[] {
  const known = new Map<string, boolean>();
  // Sequences on real time run in other processes, which have no mutants, and take minutes.
  const virtual = new Set([resolve(build, "test", "sequences", "virtual", "player.js")]);
  return folders
    .map((folder) => join(build, "test", folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".test.js"))
        .sort()
        .map((file) => resolve(folder, file)),
    )
    .concat(resolve(build, "proof", "mutants", "campaign-seeds.js"))
    .filter((file) => reaches(file, mutated, known))
    .filter((file) => !file.includes(join("test", "sequences")) || reaches(file, virtual, new Map()));
}

function reaches(file: string, mutated: ReadonlySet<string>, known: Map<string, boolean>): boolean {
  if (mutated.has(file)) return true;
  const answer = known.get(file);
  if (answer !== undefined) return answer;
  // Imports form no cycle; if they did, the file that closes it would add nothing.
  known.set(file, false);
  const isReached = importsOf(file).some((imported) => reaches(imported, mutated, known));
  known.set(file, isReached);
  return isReached;
}

function importsOf(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  return [...readFileSync(file, "utf8").matchAll(importPattern)].map(([, name = ""]) => resolve(dirname(file), name));
}
