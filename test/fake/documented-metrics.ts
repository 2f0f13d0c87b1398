import { readFileSync } from "node:fs";

/** The names of the metrics that docs/metrics.md lists. */
export const documentedMetrics: ReadonlySet<string> = new Set(
  [...readFileSync("docs/metrics.md", "utf8").matchAll(/^\| `(\w+)/gm)].map(([, name = ""]) => name),
);
