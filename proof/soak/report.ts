import type { LoadCounts, SoakRecords } from "./records.ts";
import type { Trend } from "./trends.ts";
import type { Outcome } from "./verdicts.ts";

/** Writes what a soak found as a page of Markdown. */
export function reportOf(records: SoakRecords, outcome: Outcome): string {
  const { begin, end, scrapes } = records;
  const last = scrapes.at(-1);
  const hours = ((end?.atMs ?? last?.atMs ?? begin.atMs) - begin.atMs) / 3_600_000;
  const cores = (ms: number): string => (ms / 3_600_000 / hours).toFixed(2);
  const soakMs = last === undefined ? 0 : (last.cpuMs.soak.user + last.cpuMs.soak.system) / 1_000;
  const waited = ((last?.waitedMs ?? 0) / 36_000 / hours).toFixed(1);
  return [
    "# Soak",
    "",
    `\`npm run soak\` wrote this page: ${(hours * 60).toFixed(0)} minutes, seed ${begin.seed}, Node ${begin.node}.`,
    `rolecall used ${cores(last?.cpuMs.rolecall ?? 0)} of a core, and the nodes, clients and attackers together`,
    `${cores(soakMs)}. [proof/README.md](../proof/README.md) says what a soak does and what its bounds mean.`,
    "",
    "## Requirements",
    "",
    ...table(
      ["requirement", "found", "holds"],
      outcome.verdicts.map(({ requirement, found, holds }) => [requirement, found, holds ? "yes" : "**no**"]),
    ),
    "",
    "## Trends",
    "",
    "The slope per hour is Theil and Sen's, with its 95 % confidence interval. The first quarter is left out for",
    "memory and the first eighth for what is counted. A window is the calm part of a cycle; a soak that is too short",
    "for cycles has 24. The least figure of a window counts, and the median of the live heap. Sizes are in MiB.",
    ...outcome.processes.flatMap(({ kind, pid, trends }) => [
      "",
      `### ${kind} (pid ${pid})`,
      "",
      ...trendTable(trends),
    ]),
    "",
    "### Metrics",
    "",
    ...trendTable([outcome.series]),
    "",
    "## What happened",
    "",
    ...table(["action", "times"], countsOf(records.actions.map(({ action }) => `${action.kind} ${action.variant}`))),
    "",
    ...countsTable(end?.counts ?? last?.counts),
    "",
    `On average, the process that waited longest for a processor in a second waited for ${waited} % of that second.`,
    `A no for lack of fresh evidence is excused if processes waited for more than 500 ms within the last 15 s.`,
    "",
    "## Lines of the level error",
    "",
    ...table(
      ["explanation", "lines"],
      [...outcome.explained].map(([why, count]) => [why, String(count)]),
    ),
    ...outcome.unexplained.slice(0, 20).map(({ msg }) => `\nNot explained: \`${msg}\``),
    "",
  ].join("\n");
}

function trendTable(trends: readonly Trend[]): readonly string[] {
  const isSize = (measure: string): boolean => /memory|heap/.test(measure);
  const show = (measure: string, value: number): string =>
    isSize(measure) ? (value / 1_048_576).toFixed(2) : value.toFixed(2);
  return table(
    ["figure", "median", "slope", "95 % interval", "bound", "growth"],
    trends.map(({ measure, median, slope, bound, growth }) => [
      measure,
      show(measure, median),
      slope === null ? "" : show(measure, slope.perHour),
      slope === null ? "too few windows" : `${show(measure, slope.low)} to ${show(measure, slope.high)}`,
      show(measure, bound),
      growth,
    ]),
  );
}

function countsTable(counts: LoadCounts | undefined): readonly string[] {
  if (counts === undefined) return [];
  return table(
    ["checks", "number"],
    [
      ["answered, each held against the truth", counts.answers],
      ["of them a yes", counts.yes],
      ["wrong", counts.wrong],
      ["a no for lack of fresh evidence while the processor was missing, not counted as wrong", counts.excused],
      ["not answered: their connection ended first", counts.unanswered],
      ["not answered within 10 s", counts.late],
      ["not answered, and no kill, reload or missing processor explains it", counts.unexplainedLosses],
      ["agent checks answered", counts.agentAnswers],
    ].map((row) => row.map(String)),
  );
}

function countsOf(names: readonly string[]): readonly (readonly string[])[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => [name, String(count)]);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)];
}
