import type { Build } from "../collectors/build-info.ts";
import type { ProbeStat } from "../collectors/probe-stats.ts";
import type { Collector } from "../collectors/collectors.ts";
import type { NodeSeries } from "./node-series.ts";
import { labelsText, sampleLine, type Family } from "../../exposition/writer.ts";

/** What the built-in metrics of pg_exporter are made from. */
export interface ExporterFamiliesContext {
  /** Vocabulary of metric names: `pg_*` as in pg_exporter (upstream), or `db_*` (neutral). */
  readonly naming: "upstream" | "neutral";
  /** Prefix of all names; `null`: the default of `naming`. */
  readonly namespace: string | null;
  readonly build: Build;
  /** Seconds since this process started. */
  readonly uptimeS: number;
  /** The collectors of a node that were probed at least once. */
  readonly collectorsOf: (series: NodeSeries) => readonly ProbedCollector[];
}

/** One sample. */
type Row = readonly [labels: string, value: number];

/**
 * The built-in metrics of pg_exporter, for every node (docs/exporters.md). A probe of a node is what an exporter calls
 * a scrape. A collector is one kind of probe: `datname` is its source (api or exporter), `query` its endpoint. A
 * counter whose name in pg_exporter does not end with `_total` is written as untyped: `promtool check metrics` accepts
 * nothing else.
 */
export function exporterFamilies(nodes: readonly NodeSeries[], context: ExporterFamiliesContext): readonly Family[] {
  const prefix = context.namespace ?? (context.naming === "upstream" ? "pg" : "db");
  // In the neutral vocabulary these names begin with `exporter_`, without `db_`.
  const ownPrefix = context.namespace === null && context.naming === "neutral" ? "exporter_" : `${prefix}_exporter_`;
  return [
    family(nodes, `${prefix}_up`, {
      help: "1 when the database is reachable and running, else 0.",
      rows: ({ labels, ...series }) => [[labels, isUp(series) ? 1 : 0]],
    }),
    family(nodes, `${prefix}_version`, {
      help: "Server version, as server_version_num has it; 0 while it is not known.",
      rows: version,
    }),
    family(nodes, `${prefix}_in_recovery`, {
      help: "1 in recovery (replica), else 0; the last known value while the database is down.",
      rows: inRecovery,
    }),
    ...processFamilies(nodes, ownPrefix, context),
    ...scrapeFamilies(nodes, ownPrefix, context),
    ...collectorFamilies(nodes, ownPrefix, context),
  ];
}

function processFamilies(
  nodes: readonly NodeSeries[],
  ownPrefix: string,
  { build, uptimeS }: ExporterFamiliesContext,
): readonly Family[] {
  const info = labelsText({ ...build });
  return [
    family(nodes, `${ownPrefix}build_info`, {
      help: "Constant 1, labelled with the build of this exporter.",
      rows: ({ labels }) => [[`${labels},${info}`, 1]],
    }),
    family(nodes, `${ownPrefix}up`, {
      help: "Constant 1 while the exporter is alive.",
      rows: ({ labels }) => [[labels, 1]],
    }),
    family(nodes, `${ownPrefix}uptime`, {
      help: "Seconds since the exporter started.",
      rows: ({ labels }) => [[labels, uptimeS]],
    }),
  ];
}

function scrapeFamilies(
  nodes: readonly NodeSeries[],
  ownPrefix: string,
  { collectorsOf }: ExporterFamiliesContext,
): readonly Family[] {
  const all = (series: NodeSeries): readonly ProbeStat[] => collectorsOf(series).map(({ stat }) => stat);
  const perNode =
    (valueOf: (stats: readonly ProbeStat[]) => number | null) =>
    (series: NodeSeries): readonly Row[] => {
      const value = valueOf(all(series));
      return value === null ? [] : [[series.labels, value]];
    };
  const perSource =
    (valueOf: (stats: readonly ProbeStat[]) => number | null) =>
    (series: NodeSeries): readonly Row[] =>
      (["api", "exporter"] as const).flatMap((datname): readonly Row[] => {
        const own = collectorsOf(series).flatMap(({ collector, stat }) => (collector.source === datname ? [stat] : []));
        const value = own.length === 0 ? null : valueOf(own);
        return value === null ? [] : [[`${series.labels},datname="${datname}"`, value]];
      });
  return [
    family(nodes, `${ownPrefix}last_scrape_time`, {
      help: "Epoch seconds of the last probe of the node.",
      rows: perNode(lastTime),
    }),
    family(nodes, `${ownPrefix}scrape_duration`, {
      help: "Duration of the last probe of the node in seconds.",
      rows: perNode(lastDuration),
    }),
    family(nodes, `${ownPrefix}scrape_total_count`, {
      type: "untyped",
      help: "Probes of the node.",
      rows: perNode((stats) => sum(stats, "total")),
    }),
    family(nodes, `${ownPrefix}scrape_error_count`, {
      type: "untyped",
      help: "Probes of the node that failed.",
      rows: perNode((stats) => sum(stats, "errors")),
    }),
    family(nodes, `${ownPrefix}server_scrape_duration`, {
      help: "Duration of the last probe of this source in seconds.",
      rows: perSource(lastDuration),
    }),
    family(nodes, `${ownPrefix}server_scrape_total_seconds`, {
      help: "Seconds spent on probes of this source.",
      rows: perSource((stats) => sum(stats, "totalMs") / 1000),
    }),
    family(nodes, `${ownPrefix}server_scrape_total_count`, {
      type: "untyped",
      help: "Probes of this source.",
      rows: perSource((stats) => sum(stats, "total")),
    }),
    family(nodes, `${ownPrefix}server_scrape_error_count`, {
      type: "untyped",
      help: "Probes of this source that failed.",
      rows: perSource((stats) => sum(stats, "errors")),
    }),
  ];
}

function collectorFamilies(
  nodes: readonly NodeSeries[],
  ownPrefix: string,
  context: ExporterFamiliesContext,
): readonly Family[] {
  const per =
    (valueOf: (probed: ProbedCollector, series: NodeSeries) => number) =>
    (series: NodeSeries): readonly Row[] =>
      context
        .collectorsOf(series)
        .map((probed) => [
          `${series.labels},datname="${probed.collector.source}",query="${probed.collector.endpoint}"`,
          valueOf(probed, series),
        ]);
  return [
    family(nodes, `${ownPrefix}query_cache_ttl`, {
      help: "Seconds from one probe of this collector to the next.",
      rows: per(({ collector }) => collector.ttlMs / 1000),
    }),
    family(nodes, `${ownPrefix}query_scrape_duration`, {
      help: "Duration of the last probe in seconds.",
      rows: per(({ stat }) => stat.lastMs / 1000),
    }),
    family(nodes, `${ownPrefix}query_scrape_total_count`, {
      type: "untyped",
      help: "Probes.",
      rows: per(({ stat }) => stat.total),
    }),
    family(nodes, `${ownPrefix}query_scrape_error_count`, {
      type: "untyped",
      help: "Probes that failed.",
      rows: per(({ stat }) => stat.errors),
    }),
    family(nodes, `${ownPrefix}query_scrape_hit_count`, {
      type: "untyped",
      help: "Probes that were answered.",
      rows: per(({ stat }) => stat.total - stat.errors),
    }),
    family(nodes, `${ownPrefix}query_scrape_metric_count`, {
      type: "untyped",
      help: "Documents or samples read from the last answer.",
      rows: per(({ stat, collector }, series) => valueCountOf(stat, collector, series)),
    }),
    family(nodes, `${ownPrefix}query_scrape_predicate_skip_count`, {
      type: "untyped",
      help: "Probes skipped because the node did not answer.",
      rows: per(({ stat }) => stat.skipped),
    }),
  ];
}

/** How many values the last answer held: one document, or the samples that rolecall reads of a page. */
export function valueCountOf(
  { hasLastFailed, total }: ProbeStat,
  { endpoint }: Collector,
  { observation }: Pick<NodeSeries, "observation">,
): number {
  if (hasLastFailed || total === 0) return 0;
  return endpoint === "metrics" ? (observation.exporter?.page?.samples ?? 0) : 1;
}

/** One collector that was probed at least once. */
export interface ProbedCollector {
  readonly collector: Collector;
  readonly stat: ProbeStat;
}

function isUp({ freshDocument, observation }: Omit<NodeSeries, "labels">): boolean {
  const state = observation.report?.state;
  return freshDocument !== null && (state === "running" || (state === "unknown" && observation.hasLock));
}

function version({ labels, lastDocument }: NodeSeries): readonly Row[] {
  const known = lastDocument?.["server_version"];
  return [[labels, typeof known === "number" ? known : 0]];
}

function inRecovery({ labels, observation }: NodeSeries): readonly Row[] {
  const role = observation.report?.role ?? "primary";
  return [[labels, role === "replica" || role === "standby_leader" ? 1 : 0]];
}

function lastTime(stats: readonly ProbeStat[]): number | null {
  const last = Math.max(...stats.map(({ lastAtWallMs }) => lastAtWallMs ?? 0));
  return last > 0 ? Math.floor(last / 1000) : null;
}

function lastDuration(stats: readonly ProbeStat[]): number | null {
  const last = stats.reduce<ProbeStat | null>(
    (newest, row) => ((row.lastAtWallMs ?? 0) > (newest?.lastAtWallMs ?? 0) ? row : newest),
    null,
  );
  return last === null ? null : last.lastMs / 1000;
}

function sum(stats: readonly ProbeStat[], of: "total" | "errors" | "totalMs"): number {
  return stats.reduce((all, row) => all + row[of], 0);
}

function family(
  nodes: readonly NodeSeries[],
  name: string,
  {
    type = "gauge",
    help,
    rows,
  }: { readonly type?: Family["type"]; readonly help: string; readonly rows: (series: NodeSeries) => readonly Row[] },
): Family {
  function* samples(): Iterable<string> {
    for (const series of nodes) {
      yield rows(series)
        .map(([labels, value]) => sampleLine(name, labels, value))
        .join("");
    }
  }
  return { name, type, help, samples };
}
