import type { ClusterState } from "../../../cluster/snapshot.ts";

/** A configured address that answers for another cluster. */
export interface ForeignScope {
  /** As `10.0.0.1:8008`. */
  readonly address: string;
  readonly scope: string;
}

/** The most addresses that a text names. */
const namedMax = 3;

/** The addresses whose servers state another scope than that of the cluster (rule 7), by their last answers. */
export function foreignScopes({ scope, contacts }: ClusterState): readonly ForeignScope[] {
  if (scope === null) return [];
  return [...contacts].flatMap(([api, { answer }]) => {
    const stated = answer?.report.scope ?? null;
    return stated === null || stated === scope ? [] : [{ address: new URL(api).host, scope: stated }];
  });
}

/**
 * Why a cluster has no node although its addresses answer: `10.0.0.1:8008 reports scope c330, expected orders: set scope`.
 * @returns `null` if no address answers with another scope, or the cluster has nodes all the same
 */
export function foreignScopeText(cluster: ClusterState): string | null {
  const found = cluster.nodes.length > 0 ? [] : foreignScopes(cluster);
  const [first] = found;
  if (first === undefined) return null;
  const addresses = found.filter(({ scope }) => scope === first.scope).map(({ address }) => address);
  const more = addresses.length > namedMax ? ` and ${addresses.length - namedMax} more` : "";
  const verb = addresses.length === 1 ? "reports" : "report";
  return `${addresses.slice(0, namedMax).join(", ")}${more} ${verb} scope ${first.scope}, expected ${cluster.scope}: set scope`;
}
