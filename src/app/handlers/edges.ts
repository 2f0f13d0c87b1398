import { version } from "../../config/version.ts";
import type { ListenerConfig } from "../../config/model/config.ts";
import type { AnswerCounter, BackendCount } from "../../http/message/answer-counter.ts";
import type { LivePage } from "./live-page.ts";

type AnswerRow = ReturnType<AnswerCounter["rows"]> extends Iterable<infer Row> ? Row : never;

/** What the edges of this process are read from. */
export interface EdgesSources {
  readonly phase: string;
  readonly configFile: string | null;
  readonly counter: AnswerCounter;
  readonly page: LivePage;
  readonly monitor: {
    readonly store: { readonly current: { readonly instance: string } };
    /** The pushes to each balancer. */
    balancers(): readonly object[];
  };
  readonly listeners: {
    readonly listeners: readonly { readonly config: ListenerConfig; readonly port: number }[];
    /** What the workers used of the machine; `null` without workers. */
    usage(): object | null;
    answers(): readonly AnswerRow[];
    backends(): readonly BackendCount[];
    /** Brings what the workers count up to date. */
    refresh(): Promise<void>;
  };
}

/** Describes this process, its workers and listeners, the checks that it answers, and the pushes to balancers. */
export async function describeEdges(sources: EdgesSources): Promise<object> {
  const { listeners, counter, page, monitor, phase, configFile } = sources;
  await listeners.refresh();
  const answers = [...counter.rows(), ...listeners.answers()];
  const backends = [...counter.backends(), ...listeners.backends()];
  return {
    process: {
      instance: monitor.store.current.instance,
      version: version(),
      node: process.version,
      pid: process.pid,
      phase,
      uptime_s: Math.round(process.uptime()),
      resident_bytes: process.memoryUsage.rss(),
      config: configFile,
    },
    workers: listeners.usage(),
    listeners: listeners.listeners.map(listenerRow),
    streams: page.streams.counts,
    answers: summed(answers, ({ route, status }) => `${route} ${status}`),
    backends: summed(backends, ({ backend, server, route }) => `${backend}/${server} ${route}`),
    balancers: monitor.balancers(),
  };
}

function listenerRow({ config, port }: { readonly config: ListenerConfig; readonly port: number }): object {
  const { address, dialect, cluster, node, access } = config;
  return {
    address,
    port,
    dialect,
    cluster,
    node,
    tls: access.tls !== null,
    auth: access.auth?.for ?? null,
    allow: access.allow?.length ?? null,
    management: access.management,
    read_only: access.readOnly,
  };
}

/** Adds up the counts of all processes. */
function summed<Row extends { readonly count: number }>(
  rows: Iterable<Row>,
  keyOf: (row: Row) => string,
): readonly Row[] {
  const sums = new Map<string, Row>();
  for (const row of rows) sums.set(keyOf(row), { ...row, count: row.count + (sums.get(keyOf(row))?.count ?? 0) });
  return [...sums.values()].toSorted((one, other) => other.count - one.count);
}
