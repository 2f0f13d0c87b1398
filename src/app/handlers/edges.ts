import { version } from "../../core/config/version.ts";
import type { ListenerConfig } from "../../core/config/model/config.ts";
import type { AnswerCounter } from "../../core/http/message/answer-counter.ts";
import type { BackendCount } from "../../core/http/message/server-census.ts";

type AnswerRow = ReturnType<AnswerCounter["rows"]> extends Iterable<infer Row> ? Row : never;

/** The sources of the answer to `GET /edges`. */
export interface EdgesSources {
  readonly phase: string;
  readonly configFile: string | null;
  readonly counter: AnswerCounter;
  readonly monitor: {
    readonly store: { readonly current: { readonly instance: string } };
    /** The pushes to each balancer. @param only a cluster: those for other clusters are left out; `null`: all */
    balancers(only: string | null): readonly object[];
    /** What features say of this process. @param only as that of `balancers` */
    readonly features: { edges(only: string | null): object };
  };
  readonly listeners: {
    readonly listeners: readonly { readonly config: ListenerConfig; readonly port: number }[];
    /** The processor time, memory and number of the workers; `null` without workers. */
    usage(): object | null;
    answers(): readonly AnswerRow[];
    backends(): readonly BackendCount[];
    /** Gets the newest counts from the workers. */
    refresh(): Promise<void>;
  };
}

/** Where the checks of servers are counted. */
interface BackendSources {
  readonly counter: Pick<AnswerCounter, "servers">;
  readonly listeners: Pick<EdgesSources["listeners"], "backends">;
}

/**
 * Describes this process, its workers and listeners, the checks that it answers, and the pushes to balancers.
 * @param only the cluster of the listener that received the request: what belongs to other clusters is left out, and so
 *   are the answers by route, which are counted for all clusters together. `null`: everything is described
 */
export async function describeEdges(sources: EdgesSources, only: string | null): Promise<object> {
  const { listeners, counter, monitor, phase, configFile } = sources;
  await listeners.refresh();
  const answers = only === null ? [...counter.rows(), ...listeners.answers()] : [];
  const isShown = ({ cluster }: { readonly cluster: string | null }): boolean => only === null || cluster === only;
  const backends = backendCounts(sources).filter(isShown);
  return {
    cluster: only,
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
    // A listener without a cluster serves this one too.
    listeners: listeners.listeners.filter(({ config }) => config.cluster === null || isShown(config)).map(listenerRow),
    answers: summed(answers, ({ route, status }) => `${route} ${status}`),
    backends: backendRows(backends),
    balancers: monitor.balancers(only),
    ...monitor.features.edges(only),
  };
}

/** The checks of each server that HAProxy names, as each process has counted them. */
export function backendCounts({ counter, listeners }: BackendSources): readonly BackendCount[] {
  return [...counter.servers.rows(), ...listeners.backends()];
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

/** The checks of each server of all processes, with the newest of their last answers. */
function backendRows(rows: readonly BackendCount[]): readonly object[] {
  const newestLast = rows.toSorted((one, other) => other.agoMs - one.agoMs);
  return summed(newestLast, ({ backend, server, route, cluster }) =>
    JSON.stringify([backend, server, route, cluster]),
  ).map(({ agoMs, ...row }) => ({ ...row, ms_ago: agoMs }));
}

/** Adds up the counts of all processes. What else a row says is that of the last one. */
function summed<Row extends { readonly count: number }>(
  rows: Iterable<Row>,
  keyOf: (row: Row) => string,
): readonly Row[] {
  const sums = new Map<string, Row>();
  for (const row of rows) sums.set(keyOf(row), { ...row, count: row.count + (sums.get(keyOf(row))?.count ?? 0) });
  return [...sums.values()].toSorted((one, other) => other.count - one.count);
}
