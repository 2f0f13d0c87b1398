import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { configJsonSchema } from "../../src/app/registry/config.ts";
import { configReferenceOf } from "../../src/core/config/reference.ts";
import { parameterNames } from "../../src/core/health/check.ts";
import { routePaths } from "../../src/core/health/route.ts";
import { hardReasons } from "../../src/core/health/reason.ts";

const documents = ["README.md", "src/README.md", "CONTRIBUTING.md"];
const manifest: { scripts: object; dependencies: object; devDependencies: object } = JSON.parse(
  readFileSync("package.json", "utf8"),
);

for (const document of documents) {
  const text = readFileSync(document, "utf8");

  test(`${document}: every npm script it names exists`, () => {
    const scripts = [
      ...text.matchAll(/npm (?:run )?(start|test(?::\w+)?|run [\w:]+|build|check|schema|bench[\w:]*)/g),
    ].map((match) => (match[1] ?? "").replace(/^run /, ""));
    for (const script of scripts) assert.ok(script in manifest.scripts, `npm run ${script} does not exist`);
  });

  test(`${document}: every source file it names exists`, () => {
    const base = document === "src/README.md" ? "src" : ".";
    const named = [
      ...text.matchAll(/`((?:src|test|docs|bench|app|cli|core|features|tools)\/[\w./-]*|[\w-]+\.ts)`/g),
    ].map((match) => match[1] ?? "");
    for (const path of named.filter((name) => name.endsWith("/") || name.includes(".")))
      assert.ok(existsSync(join(base, path)) || existsSync(path), `${path} does not exist`);
  });
}

test("README: lists every run-time dependency with a reason, and no other", () => {
  const section = readFileSync("README.md", "utf8").split("## Dependencies")[1] ?? "";
  const listed = [...section.matchAll(/^\| ([\w@/-]+) \|/gm)]
    .map((match) => match[1])
    .filter((name) => name !== "package");
  assert.deepEqual(new Set(listed), new Set(Object.keys(manifest.dependencies)));
});

test("README: has fewer than 900 words before the links to the reference", () => {
  const [head = ""] = readFileSync("README.md", "utf8").split("\n## Reference\n");
  const words = head.split(/\s+/).length;
  assert.ok(words < 900, `${words} words`);
});

test("docs/checks.md: lists the parameters and routes that exist", () => {
  const text = readFileSync("docs/checks.md", "utf8");
  const named = [...text.matchAll(/`(\w+)=[^`]*`/g)].map((match) => match[1] ?? "");
  for (const name of named)
    assert.ok(parameterNames().includes(name) || name === "tag_KEY", `${name}= is no parameter`);
  for (const name of parameterNames()) assert.ok(named.includes(name), `${name}= is not documented`);
  for (const path of routePaths()) assert.ok(text.includes(`\`${path}\``), `${path} is not documented`);
});

test("docs/checks.md: lists the reasons of the guards", () => {
  const text = readFileSync("docs/checks.md", "utf8");
  for (const reason of [...hardReasons.slice(hardReasons.indexOf("contested")), "stalled"])
    assert.ok(text.includes(`\`${reason}\``), `${reason} is not listed`);
});

test("docs/configuration.md is generated from the schema by npm run schema", () => {
  assert.equal(readFileSync("docs/configuration.md", "utf8"), configReferenceOf(configJsonSchema()));
});
