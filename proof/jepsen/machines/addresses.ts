/**
 * The machines of the test: network namespaces, each with one address. Pure data, which the clients share.
 *
 * e1 to e3: etcd. p1 to p3: Patroni and PostgreSQL. r1, r2: rolecall. b1, b2: HAProxy. cl: writers and readers. ob: the
 * observer.
 */

/** What every namespace and link of the test is named by, so that leftovers are found. */
export const prefix = "rcjepsen";

export const machineNames = ["e1", "e2", "e3", "p1", "p2", "p3", "r1", "r2", "b1", "b2", "cl", "ob"] as const;

export type MachineName = (typeof machineNames)[number];

export const etcdNames = ["e1", "e2", "e3"] as const;
export const nodeNames = ["p1", "p2", "p3"] as const;
export const edgeNames = ["r1", "r2"] as const;
export const balancerNames = ["b1", "b2"] as const;

export type NodeName = (typeof nodeNames)[number];
export type EdgeName = (typeof edgeNames)[number];
export type BalancerName = (typeof balancerNames)[number];

/** The address of a machine, and the one of its gateway, which forwards between all machines. */
export function addressOf(machine: MachineName): string {
  return `10.213.${machineNames.indexOf(machine) + 1}.2`;
}

export function gatewayOf(machine: MachineName): string {
  return `10.213.${machineNames.indexOf(machine) + 1}.1`;
}

/** The addresses of all machines. */
export const allAddresses = "10.213.0.0/16";

export function namespaceOf(machine: MachineName | "hub"): string {
  return `${prefix}-${machine}`;
}

/** The name of a node in Patroni and rolecall: `pg1` for p1. */
export function memberOf(node: NodeName): string {
  return `pg${node.slice(1)}`;
}

/** The node with this address; undefined if there is none. */
export function nodeAt(address: string): NodeName | undefined {
  return nodeNames.find((node) => addressOf(node) === address);
}
