import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readSchema, type SchemaNode } from "../../../src/core/config/schema/json-schema.ts";
import { configJsonSchema } from "../../../src/app/registry/config.ts";
import { unrestrictedAccess } from "../../../src/core/config/model/listener-access-config.ts";
import { loadConfig } from "../../../src/app/registry/config.ts";
import { renderProblems } from "../../../src/core/config/model/problem.ts";

function load(file: string) {
  const result = loadConfig({ file, env: {}, flags: {} });
  assert.ok(result.ok, result.ok ? "" : renderProblems(result.problems));
  return result;
}

test("config/schema.json is up to date: npm run schema writes it", () => {
  assert.deepEqual(
    JSON.parse(readFileSync("config/schema.json", "utf8")),
    JSON.parse(JSON.stringify(configJsonSchema())),
  );
});

test("the demo probes the simulated cluster and answers for the whole cluster", () => {
  const { config, simulator } = load("config/rolecall.yaml");
  assert.deepEqual(simulator, { nodes: 3, port: 18_008 });
  assert.deepEqual(
    config.clusters.map(({ name, scope, discover }) => ({ name, scope, discover })),
    [
      {
        name: "demo",
        scope: "demo",
        discover: ["http://127.0.0.1:18008", "http://127.0.0.1:18009", "http://127.0.0.1:18010"],
      },
    ],
  );
  const access = unrestrictedAccess;
  const more = { address: "127.0.0.1", node: null, operatorPages: false, defaults: "", access, agent: null, xds: null };
  assert.deepEqual(config.listen, [
    { ...more, port: 8008, dialect: "node", cluster: "demo", wholeCluster: true },
    { ...more, port: 9108, dialect: "admin", cluster: null, wholeCluster: false },
  ]);
});

test("the defaults in the comments of the demo file are the defaults", () => {
  const text = readFileSync("config/rolecall.yaml", "utf8");
  const uncommented = text.replaceAll(/^# ( *[a-z_]+:.*)$/gm, "$1");
  assert.match(uncommented, /^probe:\n {2}interval: 1s/m);
  const folder = mkdtempSync(join(tmpdir(), "rolecall-examples-"));
  try {
    writeFileSync(join(folder, "rolecall.yaml"), uncommented);
    assert.deepEqual(load(join(folder, "rolecall.yaml")), load("config/rolecall.yaml"));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the demo file contains every key of the schema", () => {
  const text = readFileSync("config/rolecall.yaml", "utf8");
  const missing = [...new Set(keysOf(readSchema(configJsonSchema())))].filter(
    (key) => !new RegExp(`[ {]${key}:|^${key}:`, "m").test(text),
  );
  assert.deepEqual(missing, []);
});

/** Examples of other programs' files, each with a test of its own. */
const foreignExamples = ["haproxy.cfg", "haproxy-migration.cfg", "kubernetes-probes.yaml"];

test("every example configuration loads, and refers editors to the schema", () => {
  const examples = readdirSync("config/examples")
    .filter((name) => !foreignExamples.includes(name))
    .map((name) => join("config/examples", name));
  assert.ok(examples.length >= 2);
  for (const file of examples) {
    assert.ok(load(file).config.clusters.length > 0);
    assert.match(readFileSync(file, "utf8"), /^# yaml-language-server: \$schema=\.\.\/schema\.json\n/);
  }
  assert.match(readFileSync("config/rolecall.yaml", "utf8"), /^# yaml-language-server: \$schema=\.\/schema\.json\n/);
});

test("every key of the schema has a description", () => {
  assert.deepEqual(undescribed(configJsonSchema(), ""), []);
});

function keysOf(node: SchemaNode): string[] {
  const inner = [...node.properties].flatMap(([key, value]) => [key, ...keysOf(value)]);
  return node.items === null ? inner : [...inner, ...keysOf(node.items)];
}

/** The properties, at any depth, without a description. */
function undescribed(value: unknown, path: string): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    if (key !== "properties") return undescribed(inner, path);
    return Object.entries(inner as Record<string, { description?: string }>).flatMap(([name, property]) => [
      ...(property.description === undefined ? [`${path}.${name}`] : []),
      ...undescribed(property, `${path}.${name}`),
    ]);
  });
}
