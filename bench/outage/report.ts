/** The text of bench/outage.md. Pure. */
import { show, type Interval } from "../statistics.ts";
import { summaries, type PoolSummary, type Spread } from "./figures.ts";
import type { LeaderChange, MeasuredPool } from "./samples.ts";

export interface Conditions {
  /** Lines such as `Patroni: 4.1.0`. */
  readonly versions: readonly string[];
  readonly machine: string;
  /** The load average of the last 15 minutes. */
  readonly load: number;
  /** The time between two new connections of a pool that cannot write, in ms. */
  readonly writeEveryMs: number;
  /** The time between two requests for an answer of rolecall, in ms. */
  readonly yesEveryMs: number;
  /** What limits the worth of these figures, such as "the machine had other work"; empty: nothing. */
  readonly label: string;
  readonly notRun: readonly { readonly name: string; readonly reason: string }[];
  /** The titles of the pools, by name. */
  readonly titles: ReadonlyMap<string, string>;
  readonly baseline: string;
}

const kinds = [
  { kind: "switchover", title: "Switchovers" },
  { kind: "kill", title: "Killed leaders" },
] as const;

/** Renders the report. */
export function report(
  changes: readonly LeaderChange[],
  pools: readonly MeasuredPool[],
  conditions: Conditions,
): string {
  return [
    ...head(conditions),
    ...pools.map(({ name }) => `* \`${name}\`: ${titleOf(name, conditions.titles)}`),
    ...conditions.notRun.map(({ name, reason }) => `* \`${name}\`: not run: ${reason}`),
    ...kinds.flatMap(({ kind, title }) => {
      const chosen = changes.filter((change) => change.kind === kind);
      if (chosen.length === 0) return [];
      const rows = summaries(chosen, pools, conditions.baseline);
      return ["", `## ${title}: ${chosen.length}`, "", ...delays(rows), "", ...faults(rows)];
    }),
    "",
  ].join("\n");
}

/** What a pool is. One that repeats another with a newer program has the name of both, as `plain-500, HAProxy 3`. */
function titleOf(name: string, titles: Conditions["titles"]): string {
  const [repeated = name, program] = name.split(", ");
  return titles.get(name) ?? (program === undefined ? name : `as \`${repeated}\`, with ${program}`);
}

function head(conditions: Conditions): readonly string[] {
  const { versions, machine, load, writeEveryMs, yesEveryMs, label, baseline } = conditions;
  return [
    "# The outage bench",
    "",
    "`npm run bench -- outage` writes this file. It changes the leader of a real cluster repeatedly. All pools run side by",
    "side, so each event reaches all of them.",
    "",
    "* Promotion: the first `pg_is_in_recovery() = false` of the new leader, polled every 10 ms. All delays count",
    "  from it, in ms.",
    `* Yes: until rolecall first answers that the new leader is the primary, requested every ${yesEveryMs} ms.`,
    "* Write: until the end of the first write of a new connection on the new leader. Each pool opens one every",
    `  ${writeEveryMs} ms until then.`,
    "* Outage: from the last write before the promotion to that first write.",
    `* Difference: the write delay of the pool minus that of \`${baseline}\` in the same event; the median of all`,
    "  events, and its 95 % interval (bootstrap).",
    `* Relative: the median and the worst write delay, divided by those of \`${baseline}\`.`,
    "* Old writes: writes that another node than the new leader executed after the promotion, on connections",
    "  opened after it; in brackets, on sessions that were open before the event.",
    "* Cut sessions: sessions that were closed although their node lived and kept its role.",
    "* Refused reads: reads that failed. While no leader answers, the lag in time grows. So the checks through",
    `  rolecall, which have \`lag_time=10s\`, refuse every replica after 10 s. Those of \`${baseline}\` limit the lag`,
    "  in bytes only.",
    "* Stale reads: reads of data more than 10 s older than the newest heartbeat that was committed before the",
    "  read. Oldest read: the largest such difference.",
    "",
    "Before each event every rolecall is reloaded, because earlier events use up the time that it may probe in",
    "bursts (60 s in 10 minutes).",
    "",
    ...(label === "" ? [] : [`**${label}**`, ""]),
    ...[machine, `Load average of the last 15 minutes: ${load.toFixed(1)}`, ...versions].map((line) => `* ${line}`),
    "",
    "Pools:",
    "",
  ];
}

function delays(rows: readonly PoolSummary[]): readonly string[] {
  return [
    "| pool | yes: median / worst | write: median / worst | outage: median / worst | difference | relative: median / worst |",
    "|---|---|---|---|---|---|",
    ...rows.map((row) =>
      rowOf([
        `\`${row.pool}\``,
        showSpread(row.yes),
        `${showSpread(row.write)}${row.withoutWrite === 0 ? "" : ` (none in ${row.withoutWrite})`}`,
        showSpread(row.outage),
        showInterval(row.difference),
        row.relative === null ? "" : `${show(row.relative.median)} / ${show(row.relative.worst)}`,
      ]),
    ),
  ];
}

function faults(rows: readonly PoolSummary[]): readonly string[] {
  return [
    "| pool | old writes | cut sessions | refused reads | stale reads | oldest read |",
    "|---|---|---|---|---|---|",
    ...rows.map((row) =>
      rowOf([
        `\`${row.pool}\``,
        `${row.oldWrites} (${row.oldSessionWrites})`,
        String(row.needlessCuts),
        `${row.readsRefused} of ${row.reads}`,
        String(row.readsStale),
        `${Math.round(row.worstBehindMs)} ms`,
      ]),
    ),
  ];
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function showSpread(spread: Spread | null): string {
  return spread === null ? "" : `${Math.round(spread.median)} / ${Math.round(spread.worst)}`;
}

function showInterval(interval: Interval | null): string {
  if (interval === null) return "";
  const [figure, low, high] = [interval.figure, interval.low, interval.high].map((each) => String(Math.round(each)));
  return `${figure} (${low} to ${high})`;
}
