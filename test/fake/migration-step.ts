/** config/examples/haproxy-migration.cfg, and what it is in each of its steps. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

export const migrationFile = readFileSync("config/examples/haproxy-migration.cfg", "utf8");

/** The file with frontends that lead to these pools; `null`: the two lines of rolecall. */
export function migrationStep(pools: Readonly<Record<"write" | "read", string | null>>): string {
  return Object.entries(pools).reduce((file, [of, pool]) => {
    const present = `\n  default_backend ${of}_nodes\n`;
    assert.ok(file.includes(present));
    if (pool !== null) return file.replace(present, `\n  default_backend ${pool}\n`);
    const [fallback, last] = [`use_backend ${of}_direct if `, `default_backend ${of}\n`];
    for (const line of [fallback, last]) assert.ok(file.includes(`\n  # ${line}`), line);
    return file.replace(present, "\n").replace(`  # ${fallback}`, `  ${fallback}`).replace(`  # ${last}`, `  ${last}`);
  }, migrationFile);
}
