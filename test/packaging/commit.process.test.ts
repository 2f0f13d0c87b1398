/** Which commit a build names: of git, of an archive, of the environment, or none. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import { temporaryFolder } from "../fake/temporary-folder.ts";

const hash = "0123456789abcdef0123456789abcdef01234567";

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@localhost", ...args], {
    cwd,
    encoding: "utf8",
  }).trim();
}

/** A repository with the file SOURCE of this one. @returns its folder, and the first digits of its commit */
function repository(name: string): { readonly folder: string; readonly commit: string } {
  const folder = temporaryFolder(name);
  for (const file of ["SOURCE", ".gitattributes"]) cpSync(file, join(folder, file));
  git(folder, "init", "--quiet");
  git(folder, "add", "--all");
  git(folder, "commit", "--quiet", "--message", "First");
  return { folder, commit: git(folder, "rev-parse", "HEAD").slice(0, 12) };
}

/** What a build in a folder names. */
function commitOf(folder: string, env: NodeJS.ProcessEnv = {}): string {
  const code = `import(${JSON.stringify(resolve("packaging/commit.mjs"))}).then(({ sourceCommit }) => console.log(sourceCommit(".")))`;
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", code], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], ...env },
  });
  return stdout.trim() || stderr;
}

describe("the commit that a build names", () => {
  test("is that of the repository, whatever else says one", () => {
    const { folder, commit } = repository("commit");
    assert.equal(commitOf(folder, { SOURCE_COMMIT: hash }), commit);
  });

  test("is marked where a tracked file differs from it; files that git does not know are none of it", () => {
    const { folder, commit } = repository("changed");
    writeFileSync(join(folder, "new"), "");
    assert.equal(commitOf(folder), commit);
    writeFileSync(join(folder, "SOURCE"), "something else");
    assert.equal(commitOf(folder), `${commit}-changed`);
  });

  test("is in an archive of the repository", () => {
    const { folder, commit } = repository("archived");
    const tree = temporaryFolder("archive");
    execFileSync("tar", ["--extract", "--directory", tree], {
      input: execFileSync("git", ["archive", "HEAD"], { cwd: folder }),
    });
    assert.match(readFileSync(join(tree, "SOURCE"), "utf8"), /^[0-9a-f]{40}\n$/);
    assert.equal(commitOf(tree, { SOURCE_COMMIT: hash }), commit);
  });

  test("is not that of a repository around the folder", () => {
    const { folder } = repository("around");
    const inner = join(folder, "inner");
    mkdirSync(inner);
    cpSync("SOURCE", join(inner, "SOURCE"));
    assert.equal(commitOf(inner), "unknown");
  });

  for (const [given, wanted] of [
    [hash, "0123456789ab"],
    ["0123456789ab", "0123456789ab"],
    ["", "unknown"],
    ["unknown", "unknown"],
    ["main", "unknown"],
    ["0123", "unknown"],
  ] as const)
    test(`of the environment variable ${JSON.stringify(given)} where nothing else says it: ${wanted}`, () => {
      const folder = temporaryFolder("unpacked");
      cpSync("SOURCE", join(folder, "SOURCE"));
      assert.equal(commitOf(folder, { SOURCE_COMMIT: given }), wanted);
    });
});
