import { isIP, SocketAddress } from "node:net";
import { nodeNamed } from "../../core/cluster/lookup.ts";
import type { ClusterState } from "../../core/cluster/snapshot.ts";
import { isNoFailover } from "../../core/cluster/values/tags.ts";
import { formatHostPort } from "../../core/config/values/address.ts";
import type { HealthPolicy } from "../../core/health/health-policy.ts";
import { clusterMembers } from "../../core/balancing/cluster-members.ts";
import type { ResolvedHost } from "../../core/balancing/host-addresses.ts";
import type { AuditedMembers } from "./core/audited-pool.ts";

/** Finds the addresses of a host name, without waiting. */
export type ResolveHost = (host: string) => ResolvedHost;

/**
 * The members of a cluster with all of their addresses. A node that is down and that no member list names any more is one
 * for as long as rolecall knows it, and is not missed.
 */
export function auditedMembers(cluster: ClusterState, policy: HealthPolicy, resolve: ResolveHost): AuditedMembers {
  const { isComplete, members: listed } = clusterMembers(cluster, policy);
  const names = new Set(listed.map(({ node }) => node));
  const unlisted = cluster.nodes.filter(({ node }) => !names.has(node.name));
  const members = [
    ...listed,
    ...unlisted.map(({ node }) => ({ node: node.name, database: node.database, isProved: false })),
  ];
  const at = new Map<string, string[]>();
  let areResolved = true;
  for (const { node, database } of members) {
    const ips = database === null ? [] : ipsOf(database.host, resolve);
    areResolved &&= ips.length > 0;
    if (database === null) continue;
    const hosts = new Set([database.host.toLowerCase(), ...ips.map(shortestIp)]);
    for (const host of hosts) {
      const address = formatHostPort({ host, port: database.port });
      at.set(address, [...(at.get(address) ?? []), node]);
    }
  }
  return {
    isComplete: isComplete && areResolved,
    members: new Map(
      members.map(({ node, isProved, database }) => {
        const report = nodeNamed(cluster, node)?.report ?? null;
        const isElectable = report === null || !isNoFailover(report.tags);
        const isAtIp = database !== null && isIP(database.host) !== 0;
        return [node, { isExpected: isProved, isElectable, database: isAtIp ? database : null }];
      }),
    ),
    at,
  };
}

function ipsOf(host: string, resolve: ResolveHost): readonly string[] {
  return isIP(host) === 0 ? resolve(host).ips : [host];
}

/** An IPv6 address as programs show it: lower case, with the longest run of zeros left out. */
function shortestIp(ip: string): string {
  return isIP(ip) === 6 ? new SocketAddress({ address: ip, family: "ipv6" }).address : ip;
}
