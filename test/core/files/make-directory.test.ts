import assert from "node:assert/strict";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeDirectory } from "../../../src/core/files/make-directory.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

const folder = temporaryFolder("make-directory");

test("makes a directory and those above it, also several times and at once", async () => {
  const deep = join(folder, "a", "b", "c");
  await Promise.all([makeDirectory(deep, 0o700), makeDirectory(deep, 0o700)]);
  await makeDirectory(deep, 0o700);
  assert.equal(statSync(deep).mode & 0o777, 0o700);
});

test("ends with the file system's error", { timeout: 20_000 }, async () => {
  writeFileSync(join(folder, "file"), "");
  mkdirSync(join(folder, "directory"));
  await assert.rejects(makeDirectory(join(folder, "file"), 0o700), { code: "EEXIST" });
  await assert.rejects(makeDirectory(join(folder, "file", "below"), 0o700), { code: "ENOTDIR" });
  await assert.rejects(makeDirectory("/proc/rolecall", 0o700), { code: "ENOENT" });
  await assert.rejects(makeDirectory("/proc/rolecall/history", 0o700), { code: "ENOENT" });
});
