import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

/** Everything that a file imports as it is loaded, its own imports included: types and `import()` are not loaded. */
function loadedBy(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(file, "utf8").replace(/(^|\n)(import|export) type [^;]*;/g, "$1");
  for (const match of text.matchAll(/(?:^|\n)(?:import|export)\s[^;]*?from\s+"([^"]+)"/g)) {
    const name = match[1] ?? "";
    if (name.startsWith(".")) loadedBy(join(dirname(file), name), seen);
    else seen.add(name);
  }
  return seen;
}

test("what every command line loads before its command is small, and no package is among it", () => {
  const loaded = [...loadedBy(join("src", "main.ts"))];
  assert.deepEqual(
    loaded.filter((name) => !name.startsWith("node:") && !name.startsWith("src")),
    [],
  );
  assert.ok(loaded.length < 50, `${loaded.length} files: ${loaded.join(", ")}`);
});
