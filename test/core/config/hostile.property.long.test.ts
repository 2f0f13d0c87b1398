import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import * as fc from "fast-check";
import type { ConfigFlags } from "../../../src/core/config/load.ts";
import { configKeys, loadConfig } from "../../../src/app/registry/config.ts";
import { renderProblems } from "../../../src/core/config/model/problem.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-hostile-"));
after(() => rmSync(folder, { recursive: true }));

/** Loads a text and asserts that the result is a configuration, or problems of one line each. */
function assertLoads(text: string | Uint8Array, env: Record<string, string> = {}, flags: ConfigFlags = {}): void {
  const file = join(folder, "rolecall.yaml");
  writeFileSync(file, text);
  const result = loadConfig({ file, env, flags });
  if (result.ok) {
    assert.ok(result.config.clusters.length > 0 && result.config.listen.length > 0);
    return;
  }
  assert.ok(result.problems.length > 0);
  assert.ok(result.problems.every(({ message, found }) => message !== "" && found !== ""));
  assert.equal(renderProblems(result.problems).split("\n").length, Math.min(result.problems.length, 101));
}

const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    8008,
    1e300,
    "",
    "demo",
    "*",
    "1s",
    "0ms",
    "5",
    "http://a:1",
    "http://u:p@a",
    "[::1]:8008",
    "a:1",
  ),
  fc.string(),
  fc.double(),
);

/** Arbitrary values, mostly shaped like a configuration. */
const shaped = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      fc.constantFrom(
        ...[
          [],
          ["clusters", 0],
          ["clusters", 0, "nodes", 0],
          ["clusters", 0, "tls"],
          ["probe"],
          ["listen", 0],
          ["guards"],
        ].flatMap((path) => configKeys.at(path)),
        "x",
      ),
      tie("value"),
    ),
  ),
})).value;

test("any bytes give a configuration or problems, never an exception", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => assertLoads(bytes)),
    { numRuns: 300 },
  );
});

test("any text with YAML syntax gives a configuration or problems", () => {
  const mark = fc.constantFrom(
    "[",
    "]",
    "{",
    "}",
    ":",
    ": ",
    "- ",
    "?",
    "&a",
    "*a",
    "!",
    "|",
    ">",
    "#",
    "\n",
    "\n  ",
    "'",
    '"',
    "%",
    "---",
    "...",
    "\t",
    "<<",
    "~",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(mark, fc.string({ maxLength: 3 })), { maxLength: 60 }), (parts) =>
      assertLoads(parts.join("")),
    ),
    { numRuns: 500 },
  );
});

test("any tree of values gives a configuration or problems", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...configKeys.at([])), shaped), (tree) =>
      assertLoads(JSON.stringify(tree)),
    ),
    {
      numRuns: 1000,
    },
  );
});

test("any environment and flags give a configuration or problems", () => {
  const variable = fc.constantFrom(
    ...configKeys.overrides.map((key) => key.variable),
    "ROLECALL_LISTEN",
    "ROLECALL_DISCOVER",
    "ROLECALL_CLUSTER",
    "ROLECALL_X",
  );
  const path = fc.constantFrom(...configKeys.overrides.map((key) => key.path.join(".")), "x");
  const flags = fc.record(
    {
      discover: fc.array(fc.string()),
      cluster: fc.string(),
      listen: fc.array(fc.string()),
      logLevel: fc.string(),
      set: fc.array(fc.tuple(path, fc.string()).map(([key, value]) => `${key}=${value}`)),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.dictionary(variable, fc.string()), flags, (env, given) =>
      assertLoads("clusters: [{ name: demo, discover: ['http://a:1'] }]", env, given),
    ),
    { numRuns: 300 },
  );
});

test("a hostile file with many repetitions gives a result in time", () => {
  const size = 100_000;
  const rows = [
    Array.from({ length: 10_000 }, (_, index) => `k${index}: 1`).join("\n"),
    "a: 1\n".repeat(20_000),
    `clusters: [${"{},".repeat(30_000)}]`,
    "&a ".repeat(30_000),
    `x: &a 1\ny: [${"*a,".repeat(30_000)}]`,
    `"${"\\".repeat(size)}`,
    "a".repeat(size),
  ];
  for (const row of rows) assertLoads(row);
});
