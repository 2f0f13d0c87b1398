/** What must hold before a release writes anything. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { releaseSection } from "./changelog.mjs";
import { run } from "./run.mjs";
import { isAbove, withVersion } from "./version.mjs";

/**
 * Checks everything that a release needs. Writes nothing.
 * @param {string} root the folder of the repository
 * @param {{ version: string, date: string, output: string, node?: string, isDryRun: boolean }} release what is asked
 *   for; its output and its node as the caller named them
 * @throws if it cannot be released
 */
export function checkRelease(root, release) {
  checkVersion(root, release.version);
  checkRepository(root, release);
  checkOutput(release.output);
  if (release.node !== undefined) checkTools(release.node);
  releaseSection(readFileSync(join(root, "CHANGELOG.md"), "utf8"), release);
  withVersion(root, release.version);
}

function checkVersion(root, version) {
  if (!/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(version))
    throw new Error(`Cannot release: the version must be MAJOR.MINOR.PATCH, got ${version}`);
  const { version: current } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  if (!isAbove(version, current))
    throw new Error(`Cannot release: the version must be above ${current}, got ${version}`);
}

function checkRepository(root, { version, isDryRun }) {
  const git = (...args) => run(["git", ...args], { cwd: root });
  const changes = git("status", "--porcelain");
  if (changes !== "") throw new Error(`Cannot release: the repository must have no changes, got\n${changes}`);
  if (git("tag", "--list", `v${version}`) !== "")
    throw new Error(`Cannot release: the tag v${version} exists: the version must have no tag`);
  if (isDryRun) return;
  if (git("branch", "--show-current") === "") throw new Error("Cannot release: HEAD must be a branch, got a commit");
  // Fails, with git's own advice, if git does not know who commits.
  git("var", "GIT_COMMITTER_IDENT");
}

function checkOutput(output) {
  if (!existsSync(output)) return;
  if (!statSync(output).isDirectory()) throw new Error(`Cannot release to ${output}: it must be a folder, got a file`);
  const { length } = readdirSync(output);
  if (length > 0) throw new Error(`Cannot release to ${output}: it must be empty, got ${length} files`);
}

/** The executable takes the binary as it is; the Debian package has the architecture of this machine. */
function checkTools(node) {
  const expression = "`Node ${process.versions.node.split('.')[0]} for ${process.platform}-${process.arch}`";
  const wanted = `Node 24 for linux-${process.arch}`;
  const { stdout, error } = spawnSync(node, ["-p", expression], { encoding: "utf8" });
  const actual = error?.message ?? stdout.trim();
  if (actual !== wanted)
    throw new Error(`Cannot release: --node ${node} must be ${wanted}, got ${actual || "no Node"}`);
  if (spawnSync("dpkg-deb", ["--version"]).status !== 0)
    throw new Error("Cannot release: --node needs dpkg-deb, which must be installed, got none");
}
