import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { readRegularFile, readRegularFileLater, requireReplaceable } from "../../../src/core/files/regular-file.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

const folder = temporaryFolder("regular-file");
const [fifo, directory, link, plain, empty] = ["fifo", "directory", "link", "plain", "empty"].map((name) =>
  join(folder, name),
) as [string, string, string, string, string];
execFileSync("mkfifo", [fifo]);
mkdirSync(directory);
symlinkSync(fifo, link);
writeFileSync(plain, "four");
writeFileSync(empty, "");

/** A path, and what reading it says. */
const refused: readonly (readonly [string, RegExp])[] = [
  [fifo, /fifo: it must be a regular file, got a FIFO/],
  [link, /link: it must be a regular file, got a FIFO/],
  [directory, /directory: it must be a regular file, got a directory/],
  ["/dev/zero", /\/dev\/zero: it must be a regular file, got a device/],
  ["/dev/null", /\/dev\/null: it must be a regular file, got a device/],
  [join(folder, "absent"), /ENOENT/],
  [plain, /plain: it must have at most 3 bytes, got more/],
  // The file system reports a size of 0.
  ["/proc/self/status", /status: it must have at most 3 bytes, got more/],
];

suite("a file that is read whole", () => {
  for (const [file, message] of refused)
    test(`${file.replace(folder, "")} is refused in words, and never waited for`, async () => {
      assert.throws(() => readRegularFile(file, 3), { message });
      await assert.rejects(readRegularFileLater(file, 3), { message });
    });

  test("is read up to its limit, whatever size the file system reports", async () => {
    for (const [file, text] of [
      [plain, /^four$/],
      [empty, /^$/],
      ["/proc/self/status", /^Name:[^]*voluntary_ctxt_switches/],
    ] as const) {
      const bytesMax = file === "/proc/self/status" ? 65_536 : 4;
      assert.match(readRegularFile(file, bytesMax), text);
      assert.match(await readRegularFileLater(file, bytesMax), text);
    }
  });

  test("is not replaced if it is an entry of another kind", async () => {
    for (const file of [fifo, directory, "/dev/null"])
      await assert.rejects(requireReplaceable(file), /must be a regular file/);
    for (const file of [plain, link, join(folder, "absent")]) await requireReplaceable(file);
  });
});
