import type { DcsOutcome, DocumentOutcome, StatusOutcome } from "../../../core/cluster/outcome.ts";
import type { Node } from "../../../core/cluster/node.ts";
import type { ClusterState } from "../../../core/cluster/snapshot.ts";
import type { ClusterConfig, ProbeConfig } from "../../../core/config/model/config.ts";
import { entriesMax } from "../feed/state-values.ts";
import { withNodes } from "../../../core/health/observe/membership.ts";
import { buildClusters } from "../../../core/state/clusters.ts";

/** Whether nothing is known of a cluster: no server of it has answered. */
export function isUnheard({ nodes, contacts }: ClusterState): boolean {
  return nodes.every(({ report }) => report === null) && [...contacts.values()].every(({ answer }) => answer === null);
}

/**
 * The owner's state of a cluster as that of a follower that knows nothing of it. What the configuration says of nodes
 * is the follower's own.
 */
export function adoptedCluster(
  owners: ClusterState,
  { config, probe }: { readonly config: ClusterConfig; readonly probe: ProbeConfig },
): ClusterState {
  const [built] = buildClusters({ clusters: [config], probe }, new Map([[config.name, owners]]));
  // What the newest list omits is forgotten in a reload only.
  return built === undefined ? owners : withOwnersMembers(built.cluster, owners);
}

/** A cluster that is known here, with the members that only the owner knows. The same state if there are none. */
export function withOwnersMembers(cluster: ClusterState, owners: ClusterState): ClusterState {
  const addresses = new Set(cluster.nodes.flatMap(({ node }) => node.api ?? []));
  const added = owners.nodes
    .filter(({ node }) => !cluster.index.has(node.name) && (node.api === null || !addresses.has(node.api)))
    .slice(0, Math.max(0, entriesMax - cluster.nodes.length))
    .map((known) => ({ ...known, node: asDiscovered(known.node) }));
  return added.length === 0 ? cluster : withNodes(cluster, [...cluster.nodes, ...added]);
}

/** A member as a list gives it: what an owner says that its configuration says of the node is not this instance's. */
function asDiscovered({ name, member, api, database }: Node): Node {
  const unknown = { isMemberFixed: false, exporter: null, isArchiveFed: false, zone: null, isFixed: false };
  return { ...unknown, name, member, api, database };
}

/** What the owner's state was made of, as far as it is not asked again soon: of other things the next outcomes tell. */
export function outcomesIn({
  name,
  nodes,
  dcs,
  documents,
  config,
  switchPoints,
}: ClusterState): readonly (StatusOutcome | DocumentOutcome | DcsOutcome)[] {
  const answers = nodes.flatMap(({ node, report, hasLock, sentAtMs, sentAtWallMs }): readonly StatusOutcome[] =>
    report === null || node.api === null
      ? []
      : [{ kind: "status", cluster: name, node: node.name, sentAtMs, sentAtWallMs, result: { report, hasLock } }],
  );
  const asked = { config: { config: config ?? undefined }, history: { history: switchPoints ?? undefined } };
  const served = (["config", "history"] as const).flatMap((document): readonly DocumentOutcome[] => {
    const cached = documents[document];
    if (cached === null) return [];
    return [{ kind: "document", cluster: name, answer: { name: document, served: cached, ...asked[document] } }];
  });
  const read = dcs?.isUp === true ? dcs.read : null;
  return [
    ...answers,
    ...served,
    ...(read === null ? [] : [{ kind: "dcs", cluster: name, sentAtMs: read.sentAtMs, result: { read } } as const]),
  ];
}
