import type { DatabaseAddress } from "../cluster/node.ts";
import type { Observation } from "../cluster/observation.ts";
import type { Check } from "../health/check.ts";
import type { ClusterView } from "../health/evidence/leadership/cluster-view.ts";
import { zoneOf } from "../health/evidence/node/zone.ts";
import { memberJudge } from "../health/rules/pool.ts";
import type { Verdict } from "../health/verdict.ts";
import { isLeftAsItWas } from "./silence.ts";

/** A node as a member of a pool, at one instant. */
export interface PoolMember {
  readonly observation: Observation;
  /** Where clients connect to its database; `null`: not known. */
  readonly address: DatabaseAddress | null;
  /** The zone of the node; `null`: not known. */
  readonly zone: string | null;
  readonly verdict: Verdict;
  /** Whether nothing is known for or against it: whoever has it leaves it as it was (rule 16). */
  readonly isSilent: boolean;
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

/** Judges every node of a cluster as a member of a pool. All that balancers, poolers and agents get comes from here. */
export function poolMembers(view: ClusterView, check: Check): PoolMembers {
  const members = view.cluster.nodes.map(memberMaker(view, check));
  return { members, validUntilMs: Math.min(Infinity, ...members.map(({ validUntilMs }) => validUntilMs)) };
}

/** Judges one node as a member of a pool. */
export function poolMember(view: ClusterView, observation: Observation, check: Check): PoolMember {
  return memberMaker(view, check)(observation);
}

/** Judges nodes as members of a pool. */
export function memberMaker(view: ClusterView, check: Check): (observation: Observation) => PoolMember {
  const judge = memberJudge(view, check);
  return (observation) => {
    const verdict = judge(observation);
    const validUntilMs = Math.min(verdict.validUntilMs, view.lock.validUntilMs);
    const zone = zoneOf(view.policy, observation);
    const isLeft = isLeftAsItWas(view, check, { observation, verdict });
    return { observation, address: observation.node.database, zone, verdict, isSilent: isLeft, validUntilMs };
  };
}
