import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import * as fc from "fast-check";
import { configJsonSchema, loadConfig } from "../../../../src/app/registry/config.ts";
import type { ConfigSources, LoadedConfig } from "../../../../src/core/config/load.ts";
import type { Config } from "../../../../src/core/config/model/config.ts";
import { renderProblems } from "../../../../src/core/config/model/problem.ts";
import { type RemovedKey, removedKeys, withoutRemovedKeys } from "../../../../src/core/config/sources/removed-keys.ts";
import { readSchema, type SchemaNode } from "../../../../src/core/config/schema/json-schema.ts";
import { writeConfigFile } from "../../../fake/config-file.ts";
import "../../../fake/property-seed.ts";

const clusters = [{ name: "demo", discover: ["http://10.0.0.1:8008"] }];

/** A file of 0.1.0 with no removed key, where each of them has its place. */
const base = {
  clusters,
  listen: [
    { port: 8008, limits: {} },
    { port: 8009, dialect: "agent", cluster: "demo", weight: {} },
  ],
  pools: [{ name: "reads", check: "/replica", weight: {} }],
  balancers: [{ haproxy: { socket: "/run/haproxy.sock", backends: [{ name: "r", check: "/replica", weight: {} }] } }],
};

/** A value that each removed key had. */
const oldValues: Readonly<Record<string, unknown>> = {
  fast_lane: false,
  "listen[].weight.by": "lag",
  "pools[].weight.by": "lag",
  "balancers[].haproxy.backends[].weight.by": "lag",
  "listen[].limits.header_timeout": "3s",
  "listen[].limits.pipelined": 6,
  "listen[].limits.body": "7kB",
};

/** Writes a value at each place of a pattern that the document has. */
function written(document: unknown, pattern: readonly string[], value: unknown): unknown {
  const [step, ...rest] = pattern;
  if (step === undefined) return value;
  const [key, isList] = [step.replace("[]", ""), step.endsWith("[]")];
  if (typeof document !== "object" || document === null) return document;
  const inner: unknown = Object.entries(document).find(([name]) => name === key)?.[1];
  if (rest.length === 0) return { ...document, [key]: value };
  if (inner === undefined || inner === null) return document;
  const next =
    isList && Array.isArray(inner) ? inner.map((one) => written(one, rest, value)) : written(inner, rest, value);
  return { ...document, [key]: next };
}

function withKeys(rows: readonly (readonly [RemovedKey, unknown])[]): unknown {
  return rows.reduce((document, [row, value]) => written(document, row.path.split("."), value), base as unknown);
}

function load(context: TestContext, document: unknown, more: Partial<ConfigSources> = {}): LoadedConfig {
  const file = writeConfigFile(context, JSON.stringify(document, null, 2)); // JSON is YAML
  return loadConfig({ file, env: {}, flags: {}, ...more });
}

function loaded(result: LoadedConfig): Config {
  assert.ok(result.ok, result.ok ? "" : renderProblems(result.problems));
  return result.config;
}

function nodeAt(path: string): SchemaNode | undefined {
  let current: SchemaNode | null | undefined = readSchema(configJsonSchema());
  for (const step of path.split(".")) {
    current = current?.properties.get(step.replace("[]", ""));
    if (step.endsWith("[]")) current = current?.items;
  }
  return current ?? undefined;
}

suite("each removed key", () => {
  for (const row of removedKeys)
    test(row.path, (context) => {
      const above = row.path.split(".").slice(0, -1);
      assert.equal(nodeAt(row.path), undefined, "it is no key of today");
      if (above.length > 0) assert.ok(nodeAt(above.join(".")), "what it was in is there");
      if (row.renamed !== null) assert.ok(nodeAt([...above, row.renamed].join(".")), "what it is now is there");
      assert.equal(row.holds === "", row.renamed !== null);
      const result = load(context, withKeys([[row, oldValues[row.path]]]));
      loaded(result);
      assert.ok(result.warnings.length > 0);
      for (const { where, path, message, line } of result.warnings) {
        assert.equal(path.replaceAll(/\[\d+\]/g, "[]"), row.path);
        assert.ok(where.endsWith(path) && line !== null && line > 1, where);
        assert.match(message, row.renamed === null ? /^was removed, and has no effect: \S/ : /^was renamed: use \S/);
        assert.match(message, /From 2\.0 on it is an error$/);
      }
    });
});

test("a removed key without effect changes nothing", (context) => {
  const rows = removedKeys.filter(({ renamed }) => renamed === null);
  const old = loaded(load(context, withKeys(rows.map((row) => [row, oldValues[row.path]]))));
  assert.deepEqual(old, loaded(load(context, base)));
});

test("a file of 0.1.0 with every key that it had is valid, and each removed key is a warning", () => {
  const result = loadConfig({ file: "test/spec/config/every-key-0.1.0.yaml", env: {}, flags: {} });
  const config = loaded(result);
  assert.equal(config.fastPath, false);
  assert.deepEqual(
    result.warnings.map(({ line, path }) => `${line} ${path}`),
    ["22 listen[1].limits.header_timeout", "22 listen[1].limits.pipelined", "22 listen[1].limits.body", "29 fast_lane"],
  );
});

suite("a renamed key", () => {
  const fast = (value: unknown, more: object = {}) => ({ clusters, fast_lane: value, ...more });

  test("has its effect", (context) => {
    assert.equal(loaded(load(context, fast(false))).fastPath, false);
    assert.equal(loaded(load(context, fast("force"))).fastPath, "force");
  });
  test("gives way to the key of today, wherever that stands", (context) => {
    assert.equal(loaded(load(context, fast(false, { fast_path: true }))).fastPath, true);
    assert.equal(loaded(load(context, { fast_path: true, ...fast(false) })).fastPath, true);
  });
  test("has its problems under the name that is written", (context) => {
    const result = load(context, fast(3));
    assert.ok(!result.ok);
    assert.deepEqual(
      result.problems.map(({ path, message }) => `${path} ${message}`),
      ["fast_lane must be true, false or force, got 3"],
    );
    assert.equal(result.warnings.length, 1);
  });
  test("is read from the environment and --set, above the file", (context) => {
    const env = { ROLECALL_FAST_LANE: "false" };
    const byVariable = load(context, { clusters, fast_path: true }, { env });
    assert.equal(loaded(byVariable).fastPath, false);
    assert.deepEqual(
      byVariable.warnings.map(({ where, message }) => `${where}: ${message}`),
      ["ROLECALL_FAST_LANE: was renamed: use ROLECALL_FAST_PATH. From 2.0 on it is an error"],
    );
    const bySet = load(context, { clusters }, { env, flags: { set: ["fast_lane=true"] } });
    assert.equal(loaded(bySet).fastPath, true);
    assert.deepEqual(
      bySet.warnings.map(({ where }) => where),
      ["ROLECALL_FAST_LANE", "--set fast_lane"],
    );
  });
  test("gives way to the variable of today, and a wrong value carries the name that is set", (context) => {
    const env = { ROLECALL_FAST_LANE: "false", ROLECALL_FAST_PATH: "true" };
    assert.equal(loaded(load(context, { clusters }, { env })).fastPath, true);
    const wrong = load(context, { clusters }, { env: { ROLECALL_FAST_LANE: "maybe" } });
    assert.ok(!wrong.ok);
    assert.deepEqual(
      wrong.problems.map(({ where }) => where),
      ["ROLECALL_FAST_LANE"],
    );
  });
});

test("any set of removed keys without effect, with any value, is accepted and named once a place", (context) => {
  const rows = removedKeys.filter(({ renamed }) => renamed === null);
  fc.assert(
    fc.property(fc.subarray([...rows]), fc.jsonValue(), (chosen, value) => {
      const result = load(context, withKeys(chosen.map((row) => [row, value])));
      loaded(result);
      // Each has one place in the base.
      assert.deepEqual(
        new Set(result.warnings.map(({ path }) => path.replaceAll(/\[\d+\]/g, "[]"))),
        new Set(chosen.map(({ path }) => path)),
      );
      assert.equal(result.warnings.length, chosen.length);
    }),
    { numRuns: 60 },
  );
});

test("any document survives, unchanged where it has no removed key", () => {
  const names = fc.constantFrom(
    "fast_lane",
    "fast_path",
    "listen",
    "limits",
    "body",
    "weight",
    "by",
    "pools",
    "__proto__",
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ maxDepth: 5 }, fc.jsonValue(), fc.array(tie("tree"), { maxLength: 3 }), tie("mapping")),
    mapping: fc.dictionary(names, tie("tree"), { maxKeys: 4 }),
  }));
  fc.assert(
    fc.property(fc.dictionary(names, tree, { maxKeys: 5 }), (document) => {
      const before = JSON.stringify(document);
      const { value, issues } = withoutRemovedKeys(document);
      assert.equal(JSON.stringify(document), before, "the argument stays");
      if (issues.length === 0) assert.equal(value, document);
      assert.deepEqual(withoutRemovedKeys(value).issues, [], "nothing is left");
    }),
  );
});
