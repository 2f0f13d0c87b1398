import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * HAProxy's own verdict, if it is installed: valid, without a warning, except that a name does not resolve, which
 * disables that server alone.
 * @param folder where the file is written
 */
export function assertValidHaproxy(text: string, folder: string): void {
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, text);
  const { error, status, stdout, stderr } = spawnSync("haproxy", ["-c", "-f", file], { encoding: "utf8" });
  if (error !== undefined) return;
  assert.equal(status, 0, stderr);
  const unexpected = `${stdout}${stderr}`.split("\n").filter((line) => !/could not resolve address/.test(line));
  assert.doesNotMatch(unexpected.join("\n"), /WARNING|ALERT/);
}
