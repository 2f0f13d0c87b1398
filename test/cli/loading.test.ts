import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

/** Everything that a file imports statically, transitively. Types and `import()` are not loaded. */
function loadedBy(file: string, loaded = new Set<string>()): ReadonlySet<string> {
  if (loaded.has(file)) return loaded;
  loaded.add(file);
  const text = readFileSync(file, "utf8").replace(/(^|\n)(import|export) type [^;]*;/g, "$1");
  for (const match of text.matchAll(/(?:^|\n)(?:import|export)\s[^;]*?from\s+"([^"]+)"/g)) {
    const name = match[1] ?? "";
    if (name.startsWith(".")) loadedBy(join(dirname(file), name), loaded);
    else loaded.add(name);
  }
  return loaded;
}

test("every command line loads few files and no package before its command", () => {
  const loaded = [...loadedBy(join("src", "main.ts"))];
  assert.deepEqual(
    loaded.filter((name) => !name.startsWith("node:") && !name.startsWith("src")),
    [],
  );
  const files = loaded.filter((name) => !name.startsWith("node:"));
  assert.ok(files.length < 47, `${files.length} files: ${files.join(", ")}`);
});

test("serve loads only the packages that it needs, and no code of other commands or of features that are not used", () => {
  const loaded = [...loadedBy(join("src", "cli", "commands", "serve.ts"))];
  assert.deepEqual(loaded.filter((name) => !name.startsWith("node:") && !name.startsWith("src")).sort(), [
    "http-proxy",
    "lru-cache",
    "pino",
    "prom-client",
    "undici",
    "yaml",
    "zod",
  ]);
  assert.deepEqual(
    loaded.filter((name) => /^src\/(etcd|cli\/status|tools\/(simulator|render|doctor|compare))\//.test(name)),
    [],
  );
  // What runs of a feature is loaded when a configuration uses it.
  assert.deepEqual(
    loaded.filter((name) => /^src\/features\/\w+\/open-/.test(name)),
    [],
  );
  assert.deepEqual(loaded.filter((name) => /^src\/features\/(companions|dcs)\//.test(name)).sort(), [
    "src/features/companions/feature.ts",
    "src/features/companions/local-probes.ts",
    "src/features/dcs/counted.ts",
    "src/features/dcs/feature.ts",
  ]);
});

test("pg is loaded when a console of a PgBouncer is opened, not before", () => {
  for (const file of ["src/core/balancing/pgbouncer/inspect-pgbouncer.ts", "src/tools/doctor/doctor.ts"])
    assert.ok(!loadedBy(file).has("pg"), file);
});
