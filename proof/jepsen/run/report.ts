/** The results of all runs as Markdown. Pure. */
import { faultKinds } from "../plan/plan.ts";
import type { RunResult } from "./campaign.ts";

export function reportOf(results: readonly RunResult[]): string {
  const counted = results.filter(({ verdict }) => verdict === "passed" || verdict === "violated");
  const runs = ["passed", "violated", "void", "broken"].map((verdict) => {
    const those = results.filter((result) => result.verdict === verdict);
    return `| runs ${verdict} | ${those.length} |`;
  });
  const counts = sumOf(counted.map((result) => result.counts));
  const faults = faultKinds.map(
    (kind) => `| ${kind} | ${counts[`fault ${kind}`] ?? 0} | ${counts[`fault not run: ${kind}`] ?? 0} |`,
  );
  const others = Object.entries(counts).filter(([name]) => !name.startsWith("fault "));
  const maxima = Object.entries(greatestOf(counted.map((result) => result.maxima)));
  return [
    ...table(["result", "runs"], runs),
    ...table(
      ["counted in passed and violated runs", ""],
      others.sort(byName).map(([name, n]) => `| ${name} | ${n} |`),
    ),
    ...table(
      ["greatest", "s"],
      maxima.sort(byName).map(([name, ms]) => `| ${name} | ${(ms / 1_000).toFixed(1)} |`),
    ),
    ...table(["fault", "injected", "not run"], faults),
    ...results.flatMap(({ seed, verdict, violations }) =>
      violations.slice(0, 3).map(({ promise, text }) => `* seed ${seed} (${verdict}): ${promise}: ${text}`),
    ),
  ].join("\n");
}

function table(head: readonly string[], rows: readonly string[]): readonly string[] {
  return [`| ${head.join(" | ")} |`, `|---|${"--:|".repeat(head.length - 1)}`, ...rows, ""];
}

function sumOf(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const counts of all) for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

function greatestOf(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const greatest: Record<string, number> = {};
  for (const maxima of all)
    for (const [name, value] of Object.entries(maxima)) greatest[name] = Math.max(greatest[name] ?? 0, value);
  return greatest;
}

function byName([one]: readonly [string, number], [other]: readonly [string, number]): number {
  return one.localeCompare(other);
}
