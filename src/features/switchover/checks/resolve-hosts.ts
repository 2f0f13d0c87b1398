import { lookup } from "node:dns/promises";
import type { PoolerConfig } from "../../../core/config/model/config.ts";
import type { PgbouncerInspection } from "../../../core/balancing/pgbouncer/inspect-pgbouncer.ts";
import { inTime } from "../../../core/state/files/in-time.ts";
import type { KnownServer } from "../preflight/pooler-setup.ts";

/** A pooler, and what its console says. */
export interface InspectedPooler {
  readonly pooler: PoolerConfig;
  readonly shown: PgbouncerInspection;
}

/** The most host names that are resolved. */
const hostsMax = 256;

/** The hosts that databases, nodes, peers and poolers have, without those of Unix sockets. */
export function hostsOf(inspected: readonly InspectedPooler[], servers: readonly KnownServer[]): readonly string[] {
  const shown = inspected.flatMap(({ pooler: { pgbouncer }, shown: { databases, peers } }) => [
    ...databases.flatMap(({ host }) => host?.split(",") ?? []),
    ...(peers ?? []).flatMap(({ host }) => host ?? []),
    ...("host" in pgbouncer.address ? [pgbouncer.address.host] : []),
  ]);
  const hosts = new Set([...shown, ...servers.map(({ address }) => address.host)]);
  return [...hosts].filter((host) => host !== "" && !host.startsWith("/")).slice(0, hostsMax);
}

/**
 * What the names resolve to, of those that a resolver answers in time.
 * @param limitMs for all of them
 */
export async function resolveHosts(
  hosts: readonly string[],
  limitMs: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const resolved = new Map<string, readonly string[]>();
  const resolveOne = async (host: string): Promise<void> => {
    const addresses = await lookup(host, { all: true }).catch(() => []);
    resolved.set(
      host.toLowerCase(),
      addresses.map(({ address }) => address),
    );
  };
  await inTime(Promise.all(hosts.map(resolveOne)), limitMs);
  return new Map(resolved);
}
