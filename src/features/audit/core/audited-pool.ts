import type { AuditedPool } from "../../../core/balancing/audited/audit-target.ts";
import type { DatabaseAddress } from "../../../core/cluster/node.ts";
import { formatHostPort } from "../../../core/config/values/address.ts";
import type { Allowances } from "./allowance.ts";

/** A member of a cluster, for the audit. */
export interface AuditedMember {
  /** Whether the node itself has answered. A member list can name nodes that do not exist. */
  readonly isExpected: boolean;
  /** Whether it may become the primary. */
  readonly isElectable: boolean;
  /** Where its database is, if that is an IP address. A host name may have other addresses elsewhere. */
  readonly database: DatabaseAddress | null;
}

/** The members of a cluster at one instant, for the audit. */
export interface AuditedMembers {
  /** Whether these are all, and all addresses are known. */
  readonly isComplete: boolean;
  readonly members: ReadonlyMap<string, AuditedMember>;
  /** The names of the members at `host:port`. Several may have one address behind a proxy. */
  readonly at: ReadonlyMap<string, readonly string[]>;
}

/** What the snapshot says of the pool of a target. */
export interface PoolTruth extends AuditedMembers {
  readonly allowances: Allowances;
}

interface NamedServer {
  readonly server: string;
  /** `null`: the target does not say. */
  readonly address: DatabaseAddress | null;
}

/**
 * The node that a server leads to, by its address, else by its name. A server at an address that no member has may lead
 * to its node all the same, by its pooler or over another network, unless others are at the addresses of members.
 * @param members with `arePlaced`: whether others are
 * @returns `null` if it is no member
 */
export function nodeOfServer(
  { server, address }: NamedServer,
  pool: Pick<AuditedPool, "servers">,
  { members, at, isComplete, arePlaced }: AuditedMembers & { readonly arePlaced: boolean },
): string | null {
  const there = address === null ? [] : (at.get(formatHostPort(address)) ?? []);
  const name = nodeByName(server, pool);
  if (there.includes(name)) return name;
  if (there[0] !== undefined) return there[0];
  const isElsewhere = address !== null && arePlaced && isComplete && members.get(name)?.database !== null;
  return members.has(name) && !isElsewhere ? name : null;
}

/** Where the member is that has the name of a server; `null` if there is none, or it is not at an IP address. */
export function addressByName(
  { server }: Pick<NamedServer, "server">,
  pool: Pick<AuditedPool, "servers">,
  { members }: AuditedMembers,
): DatabaseAddress | null {
  return members.get(nodeByName(server, pool))?.database ?? null;
}

/** The node that a server has by its name. */
export function nodeByName(server: string, { servers }: Pick<AuditedPool, "servers">): string {
  return servers?.[server] ?? server;
}
