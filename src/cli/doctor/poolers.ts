import { lookup } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { PoolerConfig } from "../../config/model/config.ts";
import { formatPoolerAddress } from "../../config/values/pooler-address.ts";
import { ConsoleError } from "../../push/pgbouncer/console-error.ts";
import { inspectPgbouncers, type PgbouncerInspection } from "../../push/pgbouncer/inspect-pgbouncer.ts";
import type { PoolerFindingKind } from "../../switchover/preflight/pooler-finding.ts";
import { defaultDeadlineMs, poolerFindings } from "../../switchover/preflight/pooler-settings.ts";
import type { KnownServer } from "../../switchover/preflight/pooler-setup.ts";
import { errorMessage } from "../../cluster/values/error-message.ts";
import type { RuleId } from "../result/rule-ids.ts";
import type { DoctorContext } from "./doctor-context.ts";

/** How long a console may take for each answer, and a resolver for all names, in ms. */
const limitMs = 2_000;
/** The most host names that are resolved. */
const hostsMax = 256;

const ruleOf: { readonly [Kind in PoolerFindingKind]: RuleId } = {
  access: "RC200",
  processes: "RC201",
  already_paused: "RC202",
  database: "RC202",
  route: "RC202",
  unlisted: "RC202",
  pool_mode: "RC203",
  version: "RC203",
  login_retry: "RC203",
  wait_timeout: "RC203",
};

interface InspectedPooler {
  readonly pooler: PoolerConfig;
  readonly shown: PgbouncerInspection;
}

/**
 * Logs in to the console of every pooler, and compares what it says with what a seamless switchover needs (RC200 to
 * RC203). Changes nothing there.
 */
export async function diagnosePoolers({ command: { result }, config, probed }: DoctorContext): Promise<void> {
  const { poolers } = config;
  if (poolers.length === 0) {
    result.cover("poolers", "not_applicable", { detail: "no pooler is configured" });
    return;
  }
  const inspected = await inspectPgbouncers(
    poolers.map(({ pgbouncer }) => pgbouncer),
    limitMs,
  );
  const usable = poolers.flatMap((pooler, at): readonly InspectedPooler[] => {
    const shown = inspected[at];
    if (shown !== undefined && !(shown instanceof ConsoleError)) return [{ pooler, shown }];
    const where = `pooler ${pooler.name}: Cannot use the console at ${formatPoolerAddress(pooler.pgbouncer.address)}`;
    result.diagnose("RC200", { message: `${where}: ${errorMessage(shown)}` });
    return [];
  });
  const servers = probed.snapshot.clusters.flatMap(({ name: cluster, nodes }) =>
    nodes.flatMap(({ node: { name: node, database: address } }): readonly KnownServer[] =>
      address === null ? [] : [{ cluster, node, address }],
    ),
  );
  const resolved = await resolveHosts(hostsOf(usable, servers));
  for (const { pooler, shown } of usable)
    for (const { kind, level, subject, text, hint } of poolerFindings({
      pooler,
      shown,
      poolers,
      servers,
      resolved,
      deadlineMs: defaultDeadlineMs,
    }))
      result.diagnose(ruleOf[kind], { message: `pooler ${subject}: ${text}`, severity: level, action: hint });
  const all = usable.length === poolers.length;
  const detail = `${usable.length} of ${poolers.length} answered`;
  result.cover("poolers", all ? "complete" : "incomplete", { detail });
}

/** The hosts that databases, nodes, peers and poolers have, without those of Unix sockets. */
function hostsOf(inspected: readonly InspectedPooler[], servers: readonly KnownServer[]): readonly string[] {
  const shown = inspected.flatMap(({ pooler: { pgbouncer }, shown: { databases, peers } }) => [
    ...databases.flatMap(({ host }) => host?.split(",") ?? []),
    ...(peers ?? []).flatMap(({ host }) => host ?? []),
    ...("host" in pgbouncer.address ? [pgbouncer.address.host] : []),
  ]);
  const hosts = new Set([...shown, ...servers.map(({ address }) => address.host)]);
  return [...hosts].filter((host) => host !== "" && !host.startsWith("/")).slice(0, hostsMax);
}

/** What the names resolve to, of those that a resolver answers in time. */
async function resolveHosts(hosts: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const resolved = new Map<string, readonly string[]>();
  const resolveOne = async (host: string): Promise<void> => {
    const addresses = await lookup(host, { all: true }).catch(() => []);
    resolved.set(
      host.toLowerCase(),
      addresses.map(({ address }) => address),
    );
  };
  const stop = new AbortController();
  const tooLate = sleep(limitMs, undefined, { signal: stop.signal }).catch(() => {});
  await Promise.race([Promise.all(hosts.map(resolveOne)), tooLate]);
  stop.abort();
  return new Map(resolved);
}
