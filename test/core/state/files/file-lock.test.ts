import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { FileLock } from "../../../../src/core/state/files/file-lock.ts";

/** A lock that this process holds, and its file. */
async function heldLock(context: TestContext): Promise<{ readonly lock: FileLock; readonly file: string }> {
  const directory = mkdtempSync(join(tmpdir(), "rolecall-lock-"));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const lock = new FileLock(join(directory, "lock"));
  assert.equal(await lock.acquire(), null);
  return { lock, file: join(directory, "lock") };
}

test("a lock that cannot be read for a while is not lost", async (context) => {
  const { lock, file } = await heldLock(context);
  const own = readFileSync(file, "utf8");
  renameSync(file, `${file}.aside`);
  mkdirSync(file);
  await assert.rejects(lock.confirm(), /must be a regular file, got a directory/);
  await assert.rejects(lock.acquire(), /must be a regular file, got a directory/);
  rmdirSync(file);
  renameSync(`${file}.aside`, file);
  assert.deepEqual([await lock.confirm(), await lock.acquire(), readFileSync(file, "utf8")], [true, null, own]);
});

test("a lock that was deleted or replaced is lost", async (context) => {
  const { lock, file } = await heldLock(context);
  writeFileSync(file, "another process");
  assert.equal(await lock.confirm(), false);
  assert.equal(await lock.acquire(), "a process of another container or machine");
  unlinkSync(file);
  assert.deepEqual([await lock.confirm(), await lock.acquire(), await lock.confirm()], [false, null, true]);
});

test("a lock of this process in another object is refused", async (context) => {
  const { file } = await heldLock(context);
  assert.equal(await new FileLock(file).acquire(), "this process");
});
