import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { WatchedFiles } from "../../../src/core/config/watched-files.ts";
import { until } from "../../fake/until.ts";

test("reads its files again after a change, and reports files that cannot be read", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-watched-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "token");
  const contents: string[] = [];
  const problems: string[] = [];
  const files = new WatchedFiles([file], () => readFileSync(file, "utf8"), {
    onChange: (content) => contents.push(content),
    onProblem: (problem) => problems.push(problem),
  });
  context.after(() => files.close());
  assert.equal(files.read(), null);
  assert.match(problems.join(), /ENOENT.*token/);
  writeFileSync(file, "one");
  assert.equal(files.read(), "one");
  assert.deepEqual(contents, [], "nothing is watched before start");
  files.start();
  writeFileSync(file, "another one");
  await until("the new content", () => contents.at(-1) === "another one");
  rmSync(file);
  await until("a second problem", () => problems.length === 2);
});
