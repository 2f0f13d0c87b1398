import type { DecisionBasis, ClaimLoss } from "../../cluster/leadership.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { validViews } from "../evidence/leadership/leader-views.ts";
import { seconds, shownOnly, type Rule } from "./rule.ts";

const decisions: Readonly<Record<Exclude<DecisionBasis, "sole" | "views">, string>> = {
  own_view: "the claims are tied, and only this claimant is named by its own view",
  incumbent: "the claims are tied, and this claimant is the last accepted leader",
  timeline: "the claims are tied, and this claimant is on the highest timeline",
  receivers: "the node that the standbys receive from",
};

/** Who holds the lock and what decided it, as `held by pg2: named by most views (of pg1, pg3)`. */
export function decisionOf({ lock, cluster }: ClusterView): string {
  const lost = [...cluster.leadership.lostClaims]
    .filter(([node]) => lock.claims.some((claim) => claim.node.name === node))
    .map(lossOf);
  return [`held by ${lock.holder ?? "nobody"}${reasonOf({ lock, cluster })}`, ...lost].join("; ");
}

function reasonOf({ lock, cluster }: Pick<ClusterView, "lock" | "cluster">): string {
  const { decision } = cluster.leadership;
  if (lock.isContested) return ": the claims are tied";
  if (lock.holder === null || decision.kind !== "held") return "";
  switch (decision.by) {
    case "sole":
      return lock.claims.length > 1 ? ": the only claim that is not lost" : "";
    case "views":
      return `: named by most views (of ${decision.witnesses.join(", ")})`;
    case "own_view":
    case "incumbent":
    case "timeline":
    case "receivers":
      return `: ${decisions[decision.by]}`;
  }
}

function lossOf([node, { witnesses, withdrawal, refused }]: readonly [string, ClaimLoss]): string {
  if (withdrawal !== undefined) {
    const { member, namedInstead } = withdrawal;
    return `the claim of ${node} is withdrawn: the DCS named ${member} and now names ${namedInstead ?? "nobody"}`;
  }
  if (refused !== undefined)
    return `the claim of ${node} was refused beside ${refused.beside}, and no view of a third node names it since`;
  const [first, ...others] = witnesses;
  if (others.length > 0) return `the claim of ${node} is lost: the views of ${witnesses.join(" and ")} contradict it`;
  return `the claim of ${node} is lost: ${first === node ? "its own view" : `the view of ${first}`} contradicts it`;
}

/** The views of who leads that count now. What they led to is the line of the lock. */
export const views: Rule = shownOnly(({ view: { cluster, policy, nowMs, lock } }) => {
  if (lock.claims.length === 0) return [];
  const counted = validViews(cluster, policy, nowMs);
  const stated = counted.map(
    ({ witness, names, requestedAtMs }) =>
      `${witness} names ${names ?? "nobody"} (${seconds(nowMs - requestedAtMs)} ago)`,
  );
  const failed = [...cluster.failedViews.keys()].map((node) => `no view from ${node}`);
  const newestMs = Math.max(...counted.map(({ requestedAtMs }) => requestedAtMs));
  return [
    {
      rule: "views of who leads",
      value: [...stated, ...failed].join(", ") || "none",
      limit: `younger than ${seconds(policy.viewMaxAgeMs)}`,
      ageMs: counted.length === 0 ? null : Math.round(nowMs - newestMs),
      source: "GET /cluster of each",
    },
  ];
});

/** Whom the DCS names, and whether its watch works. */
export const dcs: Rule = shownOnly(({ view: { cluster, nowMs } }) => {
  if (cluster.dcs === null) return [];
  const { isUp, failure, read, distrust } = cluster.dcs;
  const named = read === null ? "not read yet" : `names ${read.leader ?? "nobody"} (revision ${read.revision})`;
  const trust = distrust === null ? "" : ", distrusted: a claim went on for a whole ttl after the DCS had withdrawn it";
  const state = isUp ? "" : `, not watched${failure === null ? "" : `: ${failure.detail}`}`;
  return [
    {
      rule: "leader key in the DCS",
      value: `${named}${trust}${state}`,
      limit: "a change withdraws the yes of the member that was named before",
      ageMs: read === null ? null : Math.round(nowMs - read.sentAtMs),
      source: "linearizable read",
    },
  ];
});
