import assert from "node:assert/strict";
import { test } from "node:test";
import { CommandError } from "../../../src/core/command/framework/command-error.ts";
import { deployFile } from "../../../src/tools/render/output/deploy-file.ts";

const name = "prometheus/prometheus.yml";

test("a text is replaced wherever it occurs, by a text that is no pattern", () => {
  assert.match(deployFile(name, [["rolecall", "$&"]]), /job_name: \$&$[^]*regex: \(\$&\|process\)/m);
});

test("a file that the installation lacks is an error that names it", () => {
  assert.throws(
    () => deployFile("prometheus/missing.yml", []),
    (error) =>
      error instanceof CommandError && error.rule === "RC006" && error.message.includes("prometheus/missing.yml"),
  );
});

test("an option of which the file lacks the text is an error, never without effect", () => {
  assert.throws(() => deployFile(name, [["nobody", "edge"]]), /^Error: deploy\/prometheus\/.* must contain "nobody"$/);
});
