import type { ProbeStat } from "../../core/metrics/collectors/probe-stats.ts";
import type { Collector } from "../../core/metrics/collectors/collectors.ts";

/** One collector and its statistics. */
export interface CollectorStat {
  readonly collector: Collector;
  /** `null` before its first probe. */
  readonly stat: ProbeStat | null;
  /** How many documents or samples the last answer held. */
  readonly metrics: number;
}

/** The widths of the columns of `/stat`, as pg_exporter prints them. */
const widths = [24, 10, 10, 10, 10, 10, 6, 10];
const columns = ["name", "total", "hit", "error", "skip", "metric", "ttl/s", "duration/ms"];

/** The report of `/stat`: a table with one row per collector. Every line ends with a newline. */
export function statText(rows: readonly CollectorStat[]): string {
  const lines = rows.map(({ collector, stat, metrics }) => [
    collector.name,
    stat?.total ?? 0,
    stat === null ? 0 : stat.total - stat.errors,
    stat?.errors ?? 0,
    stat?.skipped ?? 0,
    metrics,
    Math.trunc(collector.ttlMs / 1000),
    (stat?.lastMs ?? 0).toFixed(6),
  ]);
  return [columns, ...lines]
    .map((cells) => `${cells.map((cell, at) => String(cell).padEnd(widths[at] ?? 0)).join(" ")}\n`)
    .join("");
}

/**
 * The report of `/explain`: one block per collector with SYNOPSIS, DESCRIPTION and OPTIONS, separated by empty lines.
 * @param source the file that configures the collectors
 * @param noteOf a further line about a collector, such as a disagreement; `null` for none
 */
export function explainText(
  collectors: readonly Collector[],
  { source, noteOf }: { readonly source: string; readonly noteOf: (collector: Collector) => string | null },
): string {
  return collectors.map((collector) => `${block(collector, source, noteOf(collector)).join("\n")}\n`).join("\n");
}

function block(collector: Collector, source: string, note: string | null): readonly string[] {
  return [
    "##",
    "# SYNOPSIS",
    `#       ${collector.name}_*`,
    "#",
    "# DESCRIPTION",
    `#       ${collector.description}`,
    ...(note === null ? [] : [`#       ${note}`]),
    "#",
    "# OPTIONS",
    option("Tags", `[${collector.source}, ${collector.cluster}, ${collector.node}]`),
    option("TTL", collector.ttlMs / 1000),
    option("Priority", collector.priority),
    option("Timeout", goDuration(collector.timeoutMs)),
    option("Fatal", collector.isFatal),
    option("Version", "lower ~ higher"),
    option("Source", source),
  ];
}

function option(name: string, value: string | number | boolean): string {
  return `#       ${name.padEnd(10)} ${value}`;
}

/** Formats a duration as the upstream does: `100ms`, `2.5s`, `1m30s`. */
function goDuration(ms: number): string {
  if (ms < 1000) return `${ms}ms`;
  const minutes = Math.floor(ms / 60_000);
  return minutes === 0 ? `${ms / 1000}s` : `${minutes}m${(ms - minutes * 60_000) / 1000}s`;
}
