import assert from "node:assert/strict";
import { mkdirSync, readFileSync, renameSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { DirectoryLock } from "../../../src/history/files/directory-lock.js";
import { temporaryDirectory } from "../history-fixture.js";
/** A lock that this process holds, and its file. */
async function heldLock(context) {
    const directory = temporaryDirectory(context);
    mkdirSync(directory);
    const lock = new DirectoryLock(directory);
    assert.equal(await lock.acquire(), null);
    return { lock, file: join(directory, "lock") };
}
test("a lock that cannot be read for a while is not lost", async (context) => {
    const { lock, file } = await heldLock(context);
    const own = readFileSync(file, "utf8");
    renameSync(file, `${file}.aside`);
    mkdirSync(file);
    await assert.rejects(lock.confirm(), { code: "EISDIR" });
    await assert.rejects(lock.acquire(), { code: "EISDIR" });
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
    assert.equal(await new DirectoryLock(join(file, "..")).acquire(), "this process");
});
//# sourceMappingURL=directory-lock.test.js.map