import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { watchFiles } from "../../../src/core/config/file-watcher.ts";

/** A folder, and a promise of the next change to the files watched in it. */
function watching(context: TestContext, names: readonly string[], before: (folder: string) => void = () => undefined) {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-watch-"));
  before(folder);
  const waiting: ((changed: readonly string[]) => void)[] = [];
  const seen: (readonly string[])[] = [];
  const watch = watchFiles(
    names.map((name) => join(folder, name)),
    (changed) => {
      const wake = waiting.shift();
      if (wake === undefined) seen.push(changed);
      else wake(changed);
    },
    { pollMs: 5 },
  );
  // Watching keeps no process alive, so the test has to.
  const awake = setInterval(() => undefined, 1000);
  context.after(() => {
    clearInterval(awake);
    watch.close();
    rmSync(folder, { recursive: true });
  });
  const next = async () =>
    (await new Promise<readonly string[]>((wake) => waiting.push(wake))).map((path) => path.slice(folder.length + 1));
  return { folder, next, seen, watch };
}

test("reports a file that is written, not the others", { timeout: 10_000 }, async (context) => {
  const { folder, next } = watching(context, ["ca.pem", "edge.pem", "ca.pem"], (inside) => {
    writeFileSync(join(inside, "ca.pem"), "one");
    writeFileSync(join(inside, "edge.pem"), "one");
  });
  const change = next();
  writeFileSync(join(folder, "ca.pem"), "two, and longer");
  assert.deepEqual(await change, ["ca.pem"]);
});

test("reports a file each time it is replaced by a rename", { timeout: 10_000 }, async (context) => {
  const { folder, next } = watching(context, ["ca.pem"], (inside) => writeFileSync(join(inside, "ca.pem"), "0"));
  for (const content of ["1", "2", "3"]) {
    const change = next();
    writeFileSync(join(folder, "new"), content);
    renameSync(join(folder, "new"), join(folder, "ca.pem"));
    assert.deepEqual(await change, ["ca.pem"]);
  }
});

test("reports a file each time it is created or removed", { timeout: 10_000 }, async (context) => {
  const { folder, next } = watching(context, ["ca.pem"]);
  for (const act of [
    () => writeFileSync(join(folder, "ca.pem"), "1"),
    () => rmSync(join(folder, "ca.pem")),
    () => writeFileSync(join(folder, "ca.pem"), "2"),
  ]) {
    const change = next();
    act();
    assert.deepEqual(await change, ["ca.pem"]);
  }
});

test("reports a file behind a link when the link changes", { timeout: 10_000 }, async (context) => {
  const { folder, next } = watching(context, ["ca.pem"], (inside) => {
    writeFileSync(join(inside, "v1"), "same");
    writeFileSync(join(inside, "v2"), "same");
    symlinkSync("v1", join(inside, "ca.pem"));
  });
  const change = next();
  symlinkSync("v2", join(folder, "link"));
  renameSync(join(folder, "link"), join(folder, "ca.pem"));
  assert.deepEqual(await change, ["ca.pem"]);
});

test("reports a file that never stops changing", { timeout: 10_000 }, async (context) => {
  const { folder, next } = watching(context, ["ca.pem"], (inside) => writeFileSync(join(inside, "ca.pem"), ""));
  const change = next();
  let length = 0;
  const writer = setInterval(() => writeFileSync(join(folder, "ca.pem"), "x".repeat((length += 1))), 1);
  context.after(() => clearInterval(writer));
  assert.deepEqual(await change, ["ca.pem"]);
});

test("reports nothing after it was closed", { timeout: 10_000 }, async (context) => {
  const { folder, seen, watch } = watching(context, ["ca.pem"]);
  const other = watching(context, ["other"]);
  watch.close();
  writeFileSync(join(folder, "ca.pem"), "1");
  const change = other.next();
  writeFileSync(join(other.folder, "other"), "1");
  await change;
  assert.deepEqual(seen, []);
});

test("throws for more than 1024 files", () => {
  const paths = Array.from({ length: 1025 }, (_, index) => `none/${index}`);
  assert.throws(
    () => watchFiles(paths, () => undefined),
    /Cannot watch files: there must be at most 1024 of them, got 1025/,
  );
});
