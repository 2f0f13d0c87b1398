import { nodeNamed } from "../../../cluster/lookup.ts";
import { isIdentityReadable, type Report } from "../../../cluster/documents/report.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState, WitnessView } from "../../../cluster/snapshot.ts";
import type { EvaluationContext, HealthPolicy } from "../../health-policy.ts";
import { isDistrusted } from "./active-drain.ts";
import { isOutOfScope } from "./identity.ts";

/** One server of the cluster's scope, and what it says (rule 10). */
export interface Server {
  readonly api: string;
  /**
   * The member that it is: the name that it states; if it states none, the only member at its address in its own list
   * or, if it gives none, in all lists that have its address. `null` if that is unknown.
   */
  readonly name: string | null;
  /** Whether it has failed fewer than `fall` times in a row. */
  readonly answers: boolean;
  /** Whether its address is in the configuration. */
  readonly isConfigured: boolean;
  /** Whether it reports another database system than the leader's. */
  readonly isOfOtherSystem: boolean;
  /** Its newest member list. */
  readonly list: WitnessView | null;
  /** The name, scope and system that it states; `null`: it has not answered. */
  readonly stated: Pick<Report, "name" | "scope" | "system"> | null;
  /** How many of its last probes in a row were answered under its name. Not counted, and 0, of a proved node. */
  readonly namedInRow: number;
}

type Lists = readonly WitnessView[];

/** A server before its name is known. */
interface Source {
  readonly api: string;
  readonly report: Report | null;
  readonly failuresInRow: number;
  readonly list: WitnessView | null;
  /** The member that a node without a name has proved to be. */
  readonly proved: string | null;
  readonly namedInRow: number;
}

/** Returns the servers that were probed: those of proved nodes, and all others that answered, by address. */
export function serversOf(cluster: ClusterState, policy: HealthPolicy): ReadonlyMap<string, Server> {
  const sources = sourcesOf(cluster);
  const lists = [...sources.values()].flatMap(({ list }) => list ?? []);
  return new Map(
    [...sources].flatMap(([api, source]) => {
      const server = serverOf(cluster, { source, lists, policy });
      return server === null ? [] : [[api, server] as const];
    }),
  );
}

/** The addresses of the servers that are nodes which an operator distrusts, also where no proved node is. */
export function distrustedServers(cluster: ClusterState, { policy, nowMs }: EvaluationContext): ReadonlySet<string> {
  const names = [...cluster.drains.keys()].filter((name) => isDistrusted(cluster, name, nowMs));
  if (names.length === 0) return new Set();
  const members = new Set(names.map((name) => nodeNamed(cluster, name)?.node.member ?? name));
  const servers = [...serversOf(cluster, policy).values()];
  return new Set(servers.filter(({ name }) => name !== null && members.has(name)).map(({ api }) => api));
}

function sourcesOf(cluster: ClusterState): ReadonlyMap<string, Source> {
  const sources = new Map<string, Source>();
  for (const [api, { answer, view, failuresInRow, namedInRow }] of cluster.contacts)
    if (answer !== null || view !== null)
      sources.set(api, { api, report: answer?.report ?? null, failuresInRow, list: view, proved: null, namedInRow });
  for (const observation of cluster.nodes) {
    const source = sourceOfNode(cluster, observation);
    if (source !== null) sources.set(source.api, source);
  }
  return sources;
}

function sourceOfNode({ leaderViews }: ClusterState, { node, proof, report, failuresInRow }: Observation) {
  if (proof === "none" || node.api === null) return null;
  return {
    api: node.api,
    report,
    failuresInRow,
    list: leaderViews.get(node.name) ?? null,
    proved: node.member,
    namedInRow: 0,
  };
}

/** Returns `null` for a server of another scope, and for one that does not show which server it is. */
function serverOf(
  cluster: ClusterState,
  { source, lists, policy }: { readonly source: Source; readonly lists: Lists; readonly policy: HealthPolicy },
): Server | null {
  const { api, report, failuresInRow, list, proved } = source;
  if (report !== null && isOutOfScope(cluster, report)) return null;
  // What cannot be read proves nothing, and disproves nothing that is proved.
  const isReadable = report === null || isIdentityReadable(report);
  if (!isReadable && proved === null) return null;
  const system = cluster.position?.system ?? null;
  return {
    api,
    name: report?.name ?? (isReadable ? nameInLists(source, lists) : proved),
    answers: failuresInRow < policy.fall,
    isConfigured: policy.configured.includes(api),
    isOfOtherSystem: system !== null && report?.system != null && report.system !== system,
    list,
    stated: report,
    namedInRow: source.namedInRow,
  };
}

/**
 * The member that a server without a name is, by its own list; if it gives none, by those of all others. A node that
 * has proved itself stays the same until its list gives its address to others only.
 */
function nameInLists({ api, list, proved }: Source, others: Lists): string | null {
  if (list === null && proved !== null) return proved;
  const members = (list === null ? others : [list]).flatMap((each) => [...each.members.values()]);
  const names = [...new Set(members.filter((member) => member.api === api).map(({ name }) => name))];
  if (proved !== null && (names.length === 0 || names.includes(proved))) return proved;
  return names.length === 1 ? (names[0] ?? null) : null;
}
