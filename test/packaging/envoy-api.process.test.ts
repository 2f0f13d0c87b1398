import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { envoyApi } from "../../src/features/xds/messages/envoy-api.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";

test("src/features/xds/messages/envoy-api.ts is what packaging/envoy-api.mjs takes from Envoy's definitions", () => {
  const file = join(temporaryFolder("envoy-api"), "envoy-api.ts");
  execFileSync(process.execPath, ["packaging/envoy-api.mjs", file]);
  const written = readFileSync(file, "utf8");
  const value: unknown = JSON.parse(written.slice(written.indexOf("= {") + 2).replace(/;\s*$/, ""));
  assert.deepEqual(envoyApi, value);
});
