/** The release script: its edits of files, what it refuses, and its dry run, which leaves the repository as it was. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, describe, test } from "node:test";

const folder = mkdtempSync(join(tmpdir(), "rolecall-release-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const script = resolve("packaging/release/release.mjs");
const stated = [
  "package.json",
  "package-lock.json",
  "Dockerfile",
  "deploy/kubernetes/rolecall.yaml",
  "deploy/helm/rolecall/Chart.yaml",
  "deploy/helm/rolecall/values.yaml",
];
const changelog = "# Changelog\n\n## Unreleased\n\n* One change.\n\n## 0.1.0\n\n* The first.\n";

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync("git", args, { cwd, encoding: "utf8" });
}

/** A repository with the files that state the version, which builds at once. */
function repository(name: string, text: string = changelog): string {
  const path = join(folder, name);
  for (const file of stated) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    cpSync(file, join(path, file));
  }
  const manifest = JSON.parse(readFileSync("package.json", "utf8"));
  const scripts = { build: "mkdir -p dist && touch dist/main.js" };
  writeFileSync(join(path, "package.json"), `${JSON.stringify({ ...manifest, version: "0.1.0", scripts }, null, 2)}\n`);
  writeFileSync(join(path, "CHANGELOG.md"), text);
  writeFileSync(join(path, ".gitignore"), "dist\nrelease\n");
  cpSync("packaging/sbom.mjs", join(path, "packaging/sbom.mjs"));
  mkdirSync(join(path, "node_modules"));
  git(folder, "init", "--quiet", "--initial-branch=main", path);
  git(path, "config", "user.name", "test");
  git(path, "config", "user.email", "test@localhost");
  git(path, "add", "--all");
  git(path, "commit", "--quiet", "--message", "First");
  return path;
}

function release(path: string, ...args: readonly string[]): { readonly code: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd: path, encoding: "utf8" });
  return { code: status, output: stdout + stderr };
}

describe("the release script", () => {
  test("a dry run makes the files with the new version, and leaves the repository as it was", () => {
    const path = repository("dry");
    const head = git(path, "rev-parse", "HEAD");
    const output = join(folder, "dry-output");
    const { code, output: printed } = release(path, "0.2.0", "--dry-run", "--output", output);
    assert.equal(code, 0, printed);
    // The program names the commit that it was built from, so that is made first.
    assert.match(printed, /^commit Release 0\.2\.0\nmade [^]*\ntag v0\.2\.0, 1 lines of notes$/m);
    assert.match(printed, /^not made: rolecall-0\.2\.0-linux-x64: --node names no Node 24$/m);
    assert.equal(spawnSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: output }).status, 0);
    const packed = ["--extract", "--to-stdout", "--file", "rolecall-0.2.0.tgz", "package/package.json"];
    const { version } = JSON.parse(execFileSync("tar", packed, { cwd: output, encoding: "utf8" }));
    assert.equal(version, "0.2.0");
    assert.equal(JSON.parse(readFileSync(join(output, "rolecall-0.2.0.cdx.json"), "utf8")).bomFormat, "CycloneDX");
    assert.deepEqual(
      [git(path, "rev-parse", "HEAD"), git(path, "tag"), git(path, "status", "--porcelain")],
      [head, "", ""],
    );
  });

  for (const [title, args, message, prepare] of [
    ["a version that is not above the current one", ["0.1.0"], /the version must be above 0\.1\.0/],
    ["a version with a suffix", ["0.2.0-rc.1"], /must be MAJOR\.MINOR\.PATCH/],
    ["no version", [], /the version must be the only argument/],
    ["a tree with changes", ["0.2.0"], /must have no changes/, (path: string) => writeFileSync(join(path, "new"), "")],
    ["a version with a tag", ["0.2.0"], /the tag v0\.2\.0 exists/, (path: string) => void git(path, "tag", "v0.2.0")],
    ["a folder that has files", ["0.2.0", "--dry-run", "--output", "deploy"], /deploy: it must be empty/],
  ] as const)
    test(`${title} is refused, and nothing is written`, () => {
      const path = repository(title);
      prepare?.(path);
      const before = [git(path, "rev-parse", "HEAD"), git(path, "status", "--porcelain")];
      const { code, output } = release(path, ...args);
      assert.equal(code, 1);
      assert.match(output, message);
      assert.deepEqual([git(path, "rev-parse", "HEAD"), git(path, "status", "--porcelain")], before);
    });

  test("a changelog without unreleased entries is refused", () => {
    const path = repository("no-entries", changelog.replace("* One change.\n\n", ""));
    assert.match(release(path, "0.2.0").output, /must have entries/);
  });

  test("a dry run needs none: there are none right after a release", () => {
    const path = repository("just-released", changelog.replace("* One change.\n\n", ""));
    const { code, output } = release(path, "0.2.0", "--dry-run", "--output", join(folder, "just-released-output"));
    assert.equal(code, 0, output);
    assert.match(output, /^tag v0\.2\.0, no notes: a release needs entries in the changelog$/m);
  });

  test("the section of the changelog gets its heading, below an empty unreleased one", async () => {
    const { releaseSection } = await import(resolve("packaging/release/changelog.mjs"));
    const { text, notes } = releaseSection(changelog, { version: "0.2.0", date: "2026-12-01" });
    assert.equal(text, changelog.replace("## Unreleased\n", "## Unreleased\n\n## 0.2.0, 2026-12-01\n"));
    assert.equal(notes, "* One change.");
    assert.throws(
      () => releaseSection(text, { version: "0.2.0", date: "2026-12-01" }),
      /has a section of this version/,
    );
  });

  test("the version is written into every file that states it, and nowhere else", async () => {
    const { writeVersion } = await import(resolve("packaging/release/version.mjs"));
    const path = repository("versions");
    writeVersion(path, "7.8.9");
    assert.deepEqual(git(path, "diff", "--name-only").trim().split("\n").toSorted(), stated.toSorted());
    assert.equal(git(path, "diff", "--numstat", "--", "package-lock.json").split("\t")[0], "2");
    const label = readFileSync(join(path, "Dockerfile"), "utf8");
    assert.match(label, /image\.version="7\.8\.9"/);
  });
});
