import type { DatabaseAddress } from "../cluster/node.ts";
import type { Observation } from "../cluster/observation.ts";
import type { Check } from "../health/check.ts";
import type { ClusterView } from "../health/evidence/leadership/cluster-view.ts";
import { shownLag } from "../health/evidence/position/present-lag.ts";
import { isSoft } from "../health/reason.ts";
import { judgeMember } from "../health/rules/pool.ts";
import type { Verdict } from "../health/verdict.ts";

/** A node as a member of a pool, at one instant. */
export interface PoolMember {
  readonly observation: Observation;
  /** Where clients connect to its database; `null`: not known. */
  readonly address: DatabaseAddress | null;
  readonly verdict: Verdict;
  /** Up to when all of this holds if nothing is recorded meanwhile, in ms of rolecall's clock. */
  readonly validUntilMs: number;
}

/** The members of a pool at one instant. */
export interface PoolMembers {
  /** In the order of the cluster's nodes. */
  readonly members: readonly PoolMember[];
  /** Up to when all of them hold, in ms of rolecall's clock. */
  readonly validUntilMs: number;
}

/** Judges every node of a cluster as a member of a pool. What balancers, poolers and agents are told comes from here. */
export function poolMembers(view: ClusterView, check: Check): PoolMembers {
  const members = view.cluster.nodes.map((observation) => poolMember(view, observation, check));
  return { members, validUntilMs: Math.min(Infinity, ...members.map(({ validUntilMs }) => validUntilMs)) };
}

/** Judges one node as a member of a pool. */
export function poolMember(view: ClusterView, observation: Observation, check: Check): PoolMember {
  const verdict = judgeMember(view, observation, check);
  const validUntilMs = Math.min(verdict.validUntilMs, view.lock.validUntilMs);
  return { observation, address: observation.node.database, verdict, validUntilMs };
}

/** Members as people read them: those that get clients first, and of these the least lagging first. */
export function inOrderOfUse(view: ClusterView, members: readonly PoolMember[]): readonly PoolMember[] {
  const ranked = members.map((member) => ({
    member,
    rank: rankOf(member.verdict),
    lag: shownLag(view, member.observation).bytes ?? Infinity,
  }));
  return ranked
    .toSorted((one, other) => one.rank - other.rank || (one.lag === other.lag ? 0 : one.lag - other.lag))
    .map(({ member }) => member);
}

function rankOf(verdict: Verdict): number {
  if (verdict.fit) return 0;
  return isSoft(verdict.reason) ? 1 : 2;
}
