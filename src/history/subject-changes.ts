import type { Node } from "../cluster/node.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { HealthPolicy } from "../health/health-policy.ts";

/** What was last written about a cluster. */
interface WrittenSubject {
  readonly scope: string | null;
  readonly nodes: readonly Node[];
  readonly policy: HealthPolicy;
}

/** Detects changes of a cluster's nodes, their addresses and its settings, which an incident file states. */
export class SubjectChanges {
  readonly #written = new Map<string, WrittenSubject>();

  /** Records the state of a cluster if it differs from the recorded one of that name. @returns whether it differs */
  recordIfChanged({ name, scope, nodes }: ClusterState, policy: HealthPolicy): boolean {
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
