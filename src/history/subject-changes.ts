import type { Node } from "../cluster/node.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { HealthPolicy } from "../health/health-policy.ts";

/** What was last written of a cluster. */
interface WrittenSubject {
  readonly scope: string | null;
  readonly nodes: readonly Node[];
  readonly policy: HealthPolicy;
}

/** Finds when what an incident file states about a cluster changes: its nodes, their addresses, its settings. */
export class SubjectChanges {
  readonly #written = new Map<string, WrittenSubject>();

  /** Whether the cluster differs from the last one of its name; it is the last one then. */
  isNew({ name, scope, nodes }: ClusterState, policy: HealthPolicy): boolean {
    const last = this.#written.get(name);
    // Probes replace the states of nodes, and keep the nodes themselves.
    const isSame =
      last?.scope === scope &&
      last.policy === policy &&
      last.nodes.length === nodes.length &&
      nodes.every(({ node }, at) => node === last.nodes[at]);
    if (!isSame) this.#written.set(name, { scope, nodes: nodes.map(({ node }) => node), policy });
    return !isSame;
  }
}
