import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

/** The instructions of the stage that builds the program. */
const [, buildStage = ""] = readFileSync("Dockerfile", "utf8").split(/^FROM /m);

/** What follows an instruction in each of its lines. */
function all(instruction: string): readonly string[] {
  return [...buildStage.matchAll(new RegExp(`^${instruction} (.*)$`, "gm"))].map(([, rest = ""]) => rest);
}

test("the image is built from nothing but what the Dockerfile copies", { timeout: 120_000 }, (context) => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-dockerfile-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const paths = all("COPY").flatMap((rest) => rest.split(" ").slice(0, -1));
  for (const path of paths) cpSync(path, join(folder, path), { recursive: true });
  // In place of `npm ci` and `npm prune`.
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  const commands = all("RUN").flatMap((rest) => rest.split(" && "));
  const own = commands.filter((command) => !/^npm (ci|prune)\b/.test(command));
  assert.ok(own.includes("npm run build"), own.join(", "));
  for (const command of own) {
    const { status, stderr } = spawnSync("/bin/sh", ["-c", command], { cwd: folder, encoding: "utf8" });
    assert.equal(status, 0, `${command}: ${stderr}`);
  }
  const saved = readdirSync(join(folder, "code-cache", "rolecall"));
  assert.deepEqual(new Set(saved.map((name) => name.split("-")[0])), new Set(["serve", "worker"]));
});
