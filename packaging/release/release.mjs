/**
 * Makes a release: `node packaging/release/release.mjs VERSION [--dry-run] [--output FOLDER] [--node NODE]`, in the
 * folder of the repository. Everything is checked before anything is written, and a failure takes back what was
 * written. It pushes and publishes nothing.
 *
 * `--dry-run` does the same in a clone of the last commit, also where CHANGELOG.md has nothing unreleased. FOLDER (by default `release`) gets the files. NODE is the
 * binary of Node 24 for the executable and the Debian package. SOURCE_DATE_EPOCH sets the time of the release.
 */
import { constants, cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { makeArtefacts } from "./artefacts.mjs";
import { releaseSection } from "./changelog.mjs";
import { checkRelease } from "./checks.mjs";
import { run } from "./run.mjs";
import { versionedFiles, writeVersion } from "./version.mjs";

/** Reads the command line. */
function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      "dry-run": { type: "boolean", default: false },
      output: { type: "string", default: "release" },
      node: { type: "string" },
    },
  });
  if (positionals.length !== 1)
    throw new Error(`Cannot release: the version must be the only argument, got ${positionals.join(" ") || "none"}`);
  const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? Math.floor(Date.now() / 1_000));
  if (!Number.isSafeInteger(epoch))
    throw new Error(`Cannot release: SOURCE_DATE_EPOCH must be seconds, got ${process.env.SOURCE_DATE_EPOCH}`);
  const date = new Date(epoch * 1_000).toISOString().slice(0, 10);
  const { "dry-run": isDryRun, output, node } = values;
  return { version: positionals[0], output, node, isDryRun, epoch, date };
}

/** Edits and commits, builds the commit, makes the files and tags, in a tree without changes. */
function releaseIn(root, release) {
  const { version, epoch, isDryRun } = release;
  const changelog = join(root, "CHANGELOG.md");
  const { text, notes } = releaseSection(readFileSync(changelog, "utf8"), release);
  writeVersion(root, version);
  writeFileSync(changelog, text);
  // The commit has the time that is in the files: they are the same when they are made from the tag.
  const time = { GIT_AUTHOR_DATE: `@${epoch} +0000`, GIT_COMMITTER_DATE: `@${epoch} +0000` };
  // A dry run works where git does not know who commits.
  const identity = isDryRun ? ["-c", "user.name=rolecall", "-c", "user.email=rolecall@localhost"] : [];
  const git = (args, input) => run(["git", ...identity, ...args], { cwd: root, env: time, input });
  // Before the build: the program names the commit that it was built from.
  git(["commit", "--quiet", "--message", `Release ${version}`, "--", "CHANGELOG.md", ...versionedFiles]);
  console.log(`commit Release ${version}`);
  run(["npm", "run", "--silent", "build"], { cwd: root });
  makeArtefacts(root, release);
  // Headings of the notes begin with #: they are no comments.
  git(["tag", "--annotate", "--cleanup=whitespace", "--file=-", `v${version}`], `Release ${version}\n\n${notes}\n`);
  const lines =
    notes === "" ? "no notes: a release needs entries in the changelog" : `${notes.split("\n").length} lines of notes`;
  console.log(`tag v${version}, ${lines}`);
}

/** Releases in a clone of the last commit with the packages of this folder, and removes it. */
function releaseInClone(root, release) {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-release-"));
  try {
    const clone = join(folder, "rolecall");
    run(["git", "clone", "--quiet", "--shared", root, clone], { cwd: root });
    // Copied: esbuild writes where a package really is into the executable, whose stacks then name no module of ours.
    const packages = realpathSync(join(root, "node_modules"));
    const mode = constants.COPYFILE_FICLONE;
    cpSync(packages, join(clone, "node_modules"), { recursive: true, verbatimSymlinks: true, mode });
    releaseIn(clone, release);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Releases in the repository. If that fails, its branch and its files are as before. */
function releaseInPlace(root, release) {
  const git = (...args) => run(["git", ...args], { cwd: root });
  const head = git("rev-parse", "HEAD");
  try {
    releaseIn(root, release);
  } catch (error) {
    git("reset", "--quiet", "--soft", head);
    git("checkout", "--quiet", head, "--", "CHANGELOG.md", ...versionedFiles);
    throw error;
  }
  console.log("\nNothing is pushed or published. To do so:\n");
  console.log(`  git push origin ${git("branch", "--show-current")} v${release.version}`);
  console.log(`  npm publish ${join(release.output, `rolecall-${release.version}.tgz`)}`);
}

function main() {
  const root = process.cwd();
  const given = readArguments();
  checkRelease(root, given);
  const { node } = given;
  const release = { ...given, output: resolve(given.output), node: node === undefined ? undefined : resolve(node) };
  // An interrupt ends the program that runs: what was written is taken back then.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});
  try {
    if (release.isDryRun) releaseInClone(root, release);
    else releaseInPlace(root, release);
  } catch (error) {
    // It was empty, or not there.
    rmSync(release.output, { recursive: true, force: true });
    throw error;
  }
}

try {
  main();
} catch (error) {
  console.error(error.message.replace(/^(?!Cannot release)/, "Cannot release: "));
  process.exitCode = 1;
}
