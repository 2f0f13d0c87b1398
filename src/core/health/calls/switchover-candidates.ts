import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { lagBytes } from "../evidence/position/measure.ts";
import { checkEligibility } from "./switchover-eligibility.ts";

/** Whether a node may take over the lead in a switchover, and why not. */
export interface SwitchoverCandidate {
  readonly node: string;
  /** The name that the call must use. */
  readonly member: string;
  readonly possible: boolean;
  /** A code for programs, and a sentence for people; `null` if it may. */
  readonly error: string | null;
  readonly message: string | null;
  readonly lag_bytes: number | null;
}

/** The current leader of a cluster and its other nodes: those that may take over first, then by their lag. */
export interface SwitchoverOptions {
  readonly cluster: string;
  /** The member name of the leader; `null` without one: then no switchover is possible. */
  readonly leader: string | null;
  readonly candidates: readonly SwitchoverCandidate[];
}

/** Judges each node that does not lead as the candidate of a switchover, as the call itself would be. */
export function switchoverOptions(view: ClusterView): SwitchoverOptions {
  const { cluster, lock } = view;
  const leader = cluster.nodes.find(({ node }) => node.name === lock.holder)?.node.member ?? null;
  const candidates = cluster.nodes
    .filter(({ node }) => node.name !== lock.holder)
    .map((observation) => {
      const { name, member } = observation.node;
      const refusal = checkEligibility(view, { action: "switchover", leader, candidate: member });
      const lag = lagBytes(view, observation);
      return {
        node: name,
        member,
        possible: refusal === null,
        error: refusal?.error ?? null,
        message: refusal?.message ?? null,
        lag_bytes: lag,
      };
    })
    .toSorted(
      (one, other) =>
        Number(other.possible) - Number(one.possible) ||
        (one.lag_bytes ?? Infinity) - (other.lag_bytes ?? Infinity) ||
        one.node.localeCompare(other.node),
    );
  return { cluster: cluster.name, leader, candidates };
}
