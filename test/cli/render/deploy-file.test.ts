import assert from "node:assert/strict";
import { test } from "node:test";
import { CommandError } from "../../../src/command/framework/command-error.ts";
import { deployFile } from "../../../src/cli/render/output/deploy-file.ts";

const name = "systemd/rolecall.sysusers.conf";

test("a text is replaced wherever it occurs, by a text that is no pattern", () => {
  assert.match(deployFile(name, [["rolecall", "$&"]]), /^u \$& - "\$&" \/var\/lib\/\$& -$/m);
});

test("a file that the installation lacks is an error that names it", () => {
  assert.throws(
    () => deployFile("systemd/missing.service", []),
    (error) =>
      error instanceof CommandError && error.rule === "RC006" && error.message.includes("systemd/missing.service"),
  );
});

test("an option of which the file lacks the text is an error, never without effect", () => {
  assert.throws(() => deployFile(name, [["nobody", "edge"]]), /^Error: deploy\/systemd\/.* must contain "nobody"$/);
});
