import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

test("the version is the one that was started, also after an upgrade on disk", async () => {
  const folder = temporaryFolder("version");
  for (const module of [join("core", "config", "version.js"), join("core", "program", "program-files.js")])
    cpSync(join("build", "src", module), join(folder, "src", module));
  const install = (version: string): void =>
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", version }));
  install("1.0.0");
  const { version } = (await import(pathToFileURL(join(folder, "src", "core", "config", "version.js")).href)) as {
    readonly version: () => string;
  };
  assert.equal(version(), "1.0.0");
  install("2.0.0");
  assert.equal(version(), "1.0.0");
});
