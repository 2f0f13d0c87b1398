import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { configReference } from "../../src/config/reference.ts";
import { parameterNames } from "../../src/health/check.ts";
import { hardReasons } from "../../src/health/reason.ts";

const documents = ["README.md", "src/README.md", "CONTRIBUTING.md"];
const manifest: { scripts: object; dependencies: object; devDependencies: object } = JSON.parse(
  readFileSync("package.json", "utf8"),
);

for (const document of documents) {
  const text = readFileSync(document, "utf8");

  test(`${document}: every file it links to exists`, () => {
    const links = [...text.matchAll(/\]\(([^)#]+)\)/g)].map((match) => match[1] ?? "");
    for (const link of links.filter((candidate) => !candidate.includes("://"))) {
      assert.ok(existsSync(join(dirname(document), link)), `${link} does not exist`);
    }
  });

  test(`${document}: every npm script it names exists`, () => {
    const scripts = [
      ...text.matchAll(/npm (?:run )?(start|test(?::\w+)?|run [\w:]+|build|check|schema|bench[\w:]*)/g),
    ].map((match) => (match[1] ?? "").replace(/^run /, ""));
    for (const script of scripts) assert.ok(script in manifest.scripts, `npm run ${script} does not exist`);
  });

  test(`${document}: every source file it names exists`, () => {
    const base = document === "src/README.md" ? "src" : ".";
    const named = [
      ...text.matchAll(
        /`((?:src|test|docs|bench|app|cli|cluster|config|events|exposition|gateway|health|http|metrics|probe|simulator|state|workers)\/[\w./-]*|[\w-]+\.ts)`/g,
      ),
    ].map((match) => match[1] ?? "");
    for (const path of named.filter((name) => name.endsWith("/") || name.includes(".")))
      assert.ok(existsSync(join(base, path)) || existsSync(path), `${path} does not exist`);
  });
}

test("README: lists every run-time dependency with a reason, and no other", () => {
  const section = readFileSync("README.md", "utf8").split("## Dependencies")[1] ?? "";
  const listed = [...section.matchAll(/^\| ([\w-]+) \|/gm)]
    .map((match) => match[1])
    .filter((name) => name !== "package");
  assert.deepEqual(new Set(listed), new Set(Object.keys(manifest.dependencies)));
});

test("README: names the reasons of the guards and the parameters that exist", () => {
  const text = readFileSync("README.md", "utf8");
  for (const reason of hardReasons)
    assert.ok(text.includes(`\`${reason}\``) || reason === "unknown", `${reason} is not told of`);
  const named = [...text.matchAll(/`(\w+)=[^`]*`/g)].map((match) => match[1] ?? "");
  for (const name of named) assert.ok(parameterNames().includes(name), `${name}= is no parameter`);
});

test("README: quotes the HAProxy lines of the example that runs with real servers", () => {
  const [, lines = ""] = /```haproxy\n(.*?)```/s.exec(readFileSync("README.md", "utf8")) ?? [];
  const example = readFileSync("config/examples/haproxy.cfg", "utf8").replaceAll(/^ *#.*\n/gm, "");
  assert.match(lines, /^backend write\n/);
  assert.ok(example.includes(lines.trim()), "README.md and config/examples/haproxy.cfg differ");
});

test("docs/configuration.md is generated from the schema by npm run schema", () => {
  assert.equal(readFileSync("docs/configuration.md", "utf8"), configReference());
});
