import { noContact } from "../../../cluster/contact.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import type { Electorate } from "./address-choice.ts";
import type { Server } from "./servers.ts";

/** So many probes in a row a configured address must answer as a member, each on a new connection. */
export const seedProofs = 3;

/**
 * Finds the configured address that is a member's although lists have the member elsewhere (rule 10): behind NAT, or out
 * of a network of containers, rolecall reaches members at the addresses of `discover` alone. Only for a cluster in which
 * no listed address has ever proved itself.
 * @returns `null` if there is none, or several
 */
export function seedAddressOf(member: string, electorate: Electorate): string | null {
  const { servers } = electorate;
  const [only, ...others] = servers.filter(
    ({ api, isConfigured, stated, namedInRow }) =>
      isConfigured &&
      stated?.name === member &&
      namedInRow >= seedProofs &&
      isOfMost(stated, servers) &&
      membersAt(api, servers).every((name) => name === member),
  );
  return only === undefined || others.length > 0 ? null : only.api;
}

/**
 * Whether any address answers as a member that no address has proved itself for, and has not answered often enough to be
 * that member's: a look that is over too soon would take it for a stranger.
 */
export function mayBeSeeds(cluster: ClusterState): boolean {
  return [...cluster.contacts.keys()].some((api) => mayBeSeed(cluster, api));
}

/** The same for one address: each further probe of it counts. */
export function mayBeSeed({ hasListedProof, contacts, nodes }: ClusterState, api: string): boolean {
  const { answer, namedInRow } = contacts.get(api) ?? noContact;
  if (hasListedProof || namedInRow === 0 || namedInRow >= seedProofs) return false;
  return nodes.some(({ node, proof }) => proof === "none" && node.member === answer?.report.name);
}

/** Whether more than half of the configured addresses that answer state this scope and system. */
function isOfMost(own: NonNullable<Server["stated"]>, servers: readonly Server[]): boolean {
  const all = servers.flatMap(({ isConfigured, stated }) => (isConfigured ? (stated ?? []) : []));
  return 2 * all.filter(({ scope, system }) => scope === own.scope && system === own.system).length > all.length;
}

/** The members to which lists give an address. */
function membersAt(address: string, servers: readonly Server[]): readonly string[] {
  const rows = servers.flatMap(({ list }) => [...(list?.members.values() ?? [])]);
  return rows.flatMap(({ name, api }) => (api === address ? [name] : []));
}

/** Whether a list gives a member its own address: not that of several members, nor one of the machine that reads it. */
export function isListedAddress(member: string, api: string, { servers }: Electorate): boolean {
  const members = membersAt(api, servers);
  return members.length > 0 && members.every((name) => name === member) && !isLoopback(api);
}

function isLoopback(api: string): boolean {
  const { hostname } = new URL(api);
  return /^(?:localhost$|\[::1\]$|127\.)/.test(hostname);
}
