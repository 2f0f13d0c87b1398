/** An earlier version of rolecall, built from the history of the repository. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Ending } from "./ending.ts";

/** Version 0.1.0: the last commit before its changelog began to list what came after it. The packages have not changed since. */
const commitOf = { "0.1.0": "1e4e634f9b34bc123745f7b7abef616ceb838f8b" };

/**
 * Builds an earlier version in a folder of its own, with the packages of this repository.
 * @returns its `main.js`; `null` if the history does not reach back to it, as in a shallow clone
 */
export function buildEarlierVersion(context: Ending, version: keyof typeof commitOf): string | null {
  const commit = commitOf[version];
  if (spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`], { stdio: "ignore" }).status !== 0) return null;
  const folder = mkdtempSync(join(tmpdir(), "rolecall-earlier-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const tree = join(folder, version);
  mkdirSync(tree);
  const archive = execFileSync("git", ["archive", commit, "src", "package.json", "tsconfig.json"], {
    maxBuffer: 64 * 1024 * 1024,
  });
  execFileSync("tar", ["--extract", "--directory", tree], { input: archive });
  symlinkSync(resolve("node_modules"), join(tree, "node_modules"));
  execFileSync(process.execPath, [resolve("node_modules/typescript/bin/tsc"), "-p", "."], { cwd: tree });
  return join(tree, "dist", "main.js");
}
