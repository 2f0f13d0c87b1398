import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { firstLine, secretText } from "../../../src/core/config/access-material.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

test("a file with secrets must be UTF-8, with or without a mark at its start", () => {
  const file = join(temporaryFolder("secret-text"), "tokens.txt");
  writeFileSync(file, "\ufeffgeheim-ä\r\nother\n");
  assert.deepEqual([firstLine(file), secretText(file).split("\n").length], ["geheim-ä", 3]);
  for (const bytes of [
    Buffer.from("\ufeffsecret\n", "utf16le"),
    Buffer.from("secret\n", "utf16le"),
    Buffer.from("\ufeffsecret\n", "utf16le").swap16(),
    Buffer.from("geheim-ä", "latin1"),
  ]) {
    writeFileSync(file, bytes);
    assert.throws(() => secretText(file), /Cannot use .*tokens\.txt: its text must be UTF-8, got another encoding/);
  }
});
