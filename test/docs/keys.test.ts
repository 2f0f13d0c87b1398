import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { configJsonSchema } from "../../src/app/registry/config.ts";
import { readSchema } from "../../src/core/config/schema/json-schema.ts";
import { removedKeys } from "../../src/core/config/sources/removed-keys.ts";
import { keyPaths } from "../fake/key-paths.ts";

interface Row {
  readonly key: string;
  readonly fallback: string;
  readonly decision: string;
  readonly reason: string;
}

/** The rows of the tables about keys in a page whose first column is a key. */
function rowsOf(file: string): readonly Row[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.flatMap((line) => {
    const [, key, second = "", third = "", fourth = ""] = /^\| `([^`]+)` \| (.*) \| (.*) \| (.*) \|$/.exec(line) ?? [];
    return key === undefined ? [] : [{ key, fallback: second, decision: third, reason: fourth }];
  });
}

const rows = rowsOf("proof/keys.md").filter(({ decision }) => ["kept", "removed", "renamed"].includes(decision));
const kept = rows.filter(({ decision }) => decision === "kept");

test("proof/keys.md has each key of the schema once, or the mapping that it is the same in, and no other key", () => {
  const paths = new Set(keyPaths(readSchema(configJsonSchema())));
  const named = kept.map(({ key }) => key);
  assert.equal(new Set(named).size, named.length);
  assert.deepEqual(
    named.filter((key) => !paths.has(key)),
    [],
    "keys that are none",
  );
  const same = kept.flatMap(({ key, reason }) => {
    const [, other] = /Keys: those of `(.+)`$/.exec(reason) ?? [];
    return other === undefined ? [] : [[key, other] as const];
  });
  // The reference has `follow[]` so too, and no row for an element.
  const shared = [...same, ["follow[]", "clusters[].follow[]"] as const];
  const hasRow = (path: string): boolean =>
    named.includes(path) ||
    shared.some(
      ([mapping, other]) => path.startsWith(`${mapping}.`) && hasRow(`${other}${path.slice(mapping.length)}`),
    );
  assert.deepEqual(
    [...paths].filter((path) => !hasRow(path)),
    [],
    "keys without a row",
  );
  assert.ok(paths.size > 200 && kept.every(({ reason }) => reason.length > 5));
});

test("proof/keys.md has the removed keys of the program, in its order, with what became of each", () => {
  assert.deepEqual(
    rows.filter(({ decision }) => decision !== "kept").map(({ key, decision }) => [key, decision]),
    removedKeys.map(({ path, renamed }) => [path, renamed === null ? "removed" : "renamed"]),
  );
});

test("the defaults in proof/keys.md are those of the reference", () => {
  const lines = readFileSync("docs/configuration.md", "utf8").split("\n");
  const defaultOf = (key: string): string | undefined =>
    lines
      .find((line) => line.startsWith(`| \`${key}\` |`))
      ?.split(" | ")[2]
      ?.trim();
  assert.deepEqual(
    kept.map(({ key, fallback }) => [key, fallback]),
    kept.map(({ key }) => [key, defaultOf(key)]),
  );
});
