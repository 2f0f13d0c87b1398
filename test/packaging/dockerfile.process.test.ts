import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

/** The instructions of the stage that builds the program. */
const [, buildStage = ""] = readFileSync("Dockerfile", "utf8").split(/^FROM /m);

/** What follows an instruction in each of its lines. */
function all(instruction: string): readonly string[] {
  return [...buildStage.matchAll(new RegExp(`^${instruction} (.*)$`, "gm"))].map(([, rest = ""]) => rest);
}

/** `npm ls` does not follow a link to packages. @returns a folder with an npm that lists those of this folder */
function npmThatListsHere(scratch: string): string {
  const npm = execFileSync("/bin/sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim();
  const script = `#!/bin/sh\nif [ "$1" = ls ]; then cd '${resolve(".")}'; fi\nexec '${npm}' "$@"\n`;
  const bin = join(scratch, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "npm"), script, { mode: 0o755 });
  return bin;
}

test("the image is built from nothing but what the Dockerfile copies", { timeout: 120_000 }, (context) => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-dockerfile-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const paths = all("COPY").flatMap((rest) => rest.split(" ").slice(0, -1));
  for (const path of paths) cpSync(path, join(folder, path), { recursive: true });
  // In place of `npm ci` and `npm prune`.
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  const path = `${npmThatListsHere(folder)}:${process.env["PATH"]}`;
  const commands = all("RUN").flatMap((rest) => rest.split(" && "));
  const commit = "0123456789abcdef0123456789abcdef01234567";
  const own = commands.filter((command) => !/^npm (ci|prune)\b/.test(command));
  assert.ok(
    own.some((command) => command.endsWith("npm run build")),
    own.join(", "),
  );
  for (const command of own) {
    const { status, stderr } = spawnSync("/bin/sh", ["-c", command], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, PATH: path, SOURCE_COMMIT: commit },
    });
    assert.equal(status, 0, `${command}: ${stderr}`);
  }
  assert.equal(readFileSync(join(folder, "dist", "commit.txt"), "utf8"), "0123456789ab\n");
  const saved = readdirSync(join(folder, "code-cache", "rolecall"));
  assert.deepEqual(new Set(saved.map((name) => name.split("-")[0])), new Set(["serve", "worker"]));
});
