import type { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

export const names = ["pg1", "pg2", "pg3", "pg4"] as const;

/** Probe settings under which a view counts for 11.5 s. */
export const viewSettings = { intervalMs: 1_000, viewMaxAgeMs: 11_500 };

/** Returns the host of each node's API address, by node name. */
export function hostsOf(watched: ClusterFixture): Readonly<Record<string, string>> {
  return Object.fromEntries(
    watched.cluster.nodes.map(({ node }) => [node.name, (node.api ?? "").replace(/^http:\/\/|:8008$/g, "")]),
  );
}

/** The member list of a cloned cluster: the same names at other hosts. */
export function clonedList(order: readonly string[]): readonly string[] {
  return order.map((name) => `${name} clone-${name}`);
}
