import type { Build } from "../collectors/build-info.ts";
import type { ProbeStat } from "../collectors/probe-stats.ts";
import type { Collector } from "../collectors/collectors.ts";
import type { NodeSeries } from "./node-view.ts";
import { labelsText, sampleLine, type Family } from "../../exposition/writer.ts";

/** What the exporter's own metrics are made of. */
export interface ExporterFacts {
  readonly naming: "upstream" | "neutral";
  /** Prefix of all of them; `null` is the naming's own. */
  readonly namespace: string | null;
  readonly build: Build;
  /** Seconds since this process started. */
  readonly uptimeS: number;
  /** What was asked of a node so far. */
  readonly source: (view: NodeSeries) => readonly ReadSource[];
}

/** One family of the group: its samples of one node. */
type Row = readonly [labels: string, value: number];

/**
 * The built-in metrics of an exporter (seeds/exporter-api.md, "Built-in metrics"), of every node. An asking of a node is what an exporter
 * calls a scrape, and a collector is one kind of probe: `datname` says whom it asks (api or exporter), `query` what. What the upstream
 * calls a counter without ending its name on `_total` is untyped, because `promtool check metrics` takes nothing else.
 */
export function exporterFamilies(views: readonly NodeSeries[], facts: ExporterFacts): readonly Family[] {
  const prefix = facts.namespace ?? (facts.naming === "upstream" ? "pg" : "db");
  // The neutral vocabulary has no prefix before `exporter_` of its own.
  const group = facts.namespace === null && facts.naming === "neutral" ? "exporter_" : `${prefix}_exporter_`;
  return [
    family(views, `${prefix}_up`, {
      help: "1 when the database is reachable and running, else 0.",
      rows: ({ labels, ...view }) => [[labels, isUp(view) ? 1 : 0]],
    }),
    family(views, `${prefix}_version`, {
      help: "Server version, as server_version_num has it; 0 while it is not known.",
      rows: version,
    }),
    family(views, `${prefix}_in_recovery`, {
      help: "1 in recovery (replica), else 0; the last known while it is down.",
      rows: inRecovery,
    }),
    ...processFamilies(views, group, facts),
    ...scrapeFamilies(views, group, facts),
    ...collectorFamilies(views, group, facts),
  ];
}

function processFamilies(
  views: readonly NodeSeries[],
  group: string,
  { build, uptimeS }: ExporterFacts,
): readonly Family[] {
  const info = labelsText({ ...build });
  return [
    family(views, `${group}build_info`, {
      help: "Constant 1, with what this exporter was built of.",
      rows: ({ labels }) => [[`${labels},${info}`, 1]],
    }),
    family(views, `${group}up`, {
      help: "Constant 1 while the exporter is alive.",
      rows: ({ labels }) => [[labels, 1]],
    }),
    family(views, `${group}uptime`, {
      help: "Seconds since the exporter started.",
      rows: ({ labels }) => [[labels, uptimeS]],
    }),
  ];
}

function scrapeFamilies(views: readonly NodeSeries[], group: string, facts: ExporterFacts): readonly Family[] {
  const all = (view: NodeSeries): readonly ProbeStat[] => facts.source(view).map(({ stat }) => stat);
  const perNode =
    (valueOf: (askings: readonly ProbeStat[]) => number | null) =>
    (view: NodeSeries): readonly Row[] => {
      const value = valueOf(all(view));
      return value === null ? [] : [[view.labels, value]];
    };
  const perSource =
    (valueOf: (askings: readonly ProbeStat[]) => number | null) =>
    (view: NodeSeries): readonly Row[] =>
      (["api", "exporter"] as const).flatMap((datname): readonly Row[] => {
        const own = facts
          .source(view)
          .flatMap(({ collector, stat: probeStat }) => (collector.source === datname ? [probeStat] : []));
        const value = own.length === 0 ? null : valueOf(own);
        return value === null ? [] : [[`${view.labels},datname="${datname}"`, value]];
      });
  return [
    family(views, `${group}last_scrape_time`, {
      help: "Epoch seconds when the node was last asked.",
      rows: perNode(lastTime),
    }),
    family(views, `${group}scrape_duration`, {
      help: "Seconds the last asking of the node took.",
      rows: perNode(lastDuration),
    }),
    family(views, `${group}scrape_total_count`, {
      type: "untyped",
      help: "Askings of the node.",
      rows: perNode((askings) => sum(askings, "total")),
    }),
    family(views, `${group}scrape_error_count`, {
      type: "untyped",
      help: "Askings of the node that failed.",
      rows: perNode((askings) => sum(askings, "errors")),
    }),
    family(views, `${group}server_scrape_duration`, {
      help: "Seconds the last asking of this source took.",
      rows: perSource(lastDuration),
    }),
    family(views, `${group}server_scrape_total_seconds`, {
      help: "Seconds spent on asking this source.",
      rows: perSource((askings) => sum(askings, "totalMs") / 1000),
    }),
    family(views, `${group}server_scrape_total_count`, {
      type: "untyped",
      help: "Askings of this source.",
      rows: perSource((askings) => sum(askings, "total")),
    }),
    family(views, `${group}server_scrape_error_count`, {
      type: "untyped",
      help: "Askings of this source that failed.",
      rows: perSource((askings) => sum(askings, "errors")),
    }),
  ];
}

function collectorFamilies(views: readonly NodeSeries[], group: string, facts: ExporterFacts): readonly Family[] {
  const per =
    (valueOf: (asked: ReadSource, view: NodeSeries) => number) =>
    (view: NodeSeries): readonly Row[] =>
      facts
        .source(view)
        .map((asked) => [
          `${view.labels},datname="${asked.collector.source}",query="${asked.collector.endpoint}"`,
          valueOf(asked, view),
        ]);
  return [
    family(views, `${group}query_cache_ttl`, {
      help: "Seconds an answer of this collector is kept before it is asked for again.",
      rows: per(({ collector }) => collector.ttlMs / 1000),
    }),
    family(views, `${group}query_scrape_duration`, {
      help: "Seconds the last asking took.",
      rows: per(({ stat }) => stat.lastMs / 1000),
    }),
    family(views, `${group}query_scrape_total_count`, {
      type: "untyped",
      help: "Askings.",
      rows: per(({ stat: probeStat }) => probeStat.total),
    }),
    family(views, `${group}query_scrape_error_count`, {
      type: "untyped",
      help: "Askings that failed.",
      rows: per(({ stat: asking }) => asking.errors),
    }),
    family(views, `${group}query_scrape_hit_count`, {
      type: "untyped",
      help: "Askings that were answered.",
      rows: per(({ stat: asking }) => asking.total - asking.errors),
    }),
    family(views, `${group}query_scrape_metric_count`, {
      type: "untyped",
      help: "Documents or samples read from the last answer.",
      rows: per(({ stat: asking, collector }, view) => readFrom(asking, collector, view)),
    }),
    family(views, `${group}query_scrape_predicate_skip_count`, {
      type: "untyped",
      help: "Askings left out because they made no sense.",
      rows: per(({ stat: asking }) => asking.skipped),
    }),
  ];
}

/** How many values the last answer gave: one document, or the samples of a page that we read. */
export function readFrom(
  { hasLastFailed, total }: ProbeStat,
  { endpoint }: Collector,
  { observation }: Pick<NodeSeries, "observation">,
): number {
  if (hasLastFailed || total === 0) return 0;
  return endpoint === "metrics" ? (observation.exporter?.page?.samples ?? 0) : 1;
}

/** One collector that has been asked. */
export interface ReadSource {
  readonly collector: Collector;
  readonly stat: ProbeStat;
}

function isUp({ document, observation }: Omit<NodeSeries, "labels">): boolean {
  const state = observation.report?.state;
  return document !== null && (state === "running" || (state === "unknown" && observation.hasLock));
}

function version({ labels, lastDocument }: NodeSeries): readonly Row[] {
  const known = lastDocument?.["server_version"];
  return [[labels, typeof known === "number" ? known : 0]];
}

function inRecovery({ labels, observation }: NodeSeries): readonly Row[] {
  const role = observation.report?.role ?? "primary";
  return [[labels, role === "replica" || role === "standby_leader" ? 1 : 0]];
}

function lastTime(askings: readonly ProbeStat[]): number | null {
  const last = Math.max(...askings.map(({ lastAtWallMs }) => lastAtWallMs ?? 0));
  return last > 0 ? Math.floor(last / 1000) : null;
}

function lastDuration(askings: readonly ProbeStat[]): number | null {
  const last = askings.reduce<ProbeStat | null>(
    (newest, row) => ((row.lastAtWallMs ?? 0) > (newest?.lastAtWallMs ?? 0) ? row : newest),
    null,
  );
  return last === null ? null : last.lastMs / 1000;
}

function sum(askings: readonly ProbeStat[], of: "total" | "errors" | "totalMs"): number {
  return askings.reduce((all, row) => all + row[of], 0);
}

function family(
  views: readonly NodeSeries[],
  name: string,
  {
    type = "gauge",
    help,
    rows,
  }: { readonly type?: Family["type"]; readonly help: string; readonly rows: (view: NodeSeries) => readonly Row[] },
): Family {
  function* samples(): Iterable<string> {
    for (const view of views) {
      yield rows(view)
        .map(([labels, value]) => sampleLine(name, labels, value))
        .join("");
    }
  }
  return { name, type, help, samples };
}
