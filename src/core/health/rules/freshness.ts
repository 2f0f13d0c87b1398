import { graceBoundMs, graceOn } from "../evidence/leadership/api-outage-grace.ts";
import { freshUntilMs, isHeard, lockBoundMs } from "../evidence/node/freshness.ts";
import { lastClaimOf } from "../evidence/leadership/last-claim.ts";
import { fit, unfit, unfitWithAge, validUntil } from "../verdict.ts";
import { seconds, shownOnly, type NodeCheck, type Rule } from "./rule.ts";

/** Some node of the cluster has fresh evidence (rule 9). */
const notBlind: Rule<NodeCheck> = {
  judge: ({ view }) => (view.isBlind ? unfit("blind") : validUntil(fit, view.blindFromMs)),
  show({ view: { cluster, nowMs, maxAgeMs } }) {
    const newestMs = nowMs - cluster.newestReportAtMs;
    return [
      {
        rule: "not blind",
        value: Number.isFinite(newestMs)
          ? `newest report of any node is ${seconds(newestMs)} old`
          : "no node has ever answered",
        limit: cluster.nodes.length > 1 ? `some node within ${seconds(maxAgeMs)}` : "does not apply to a single node",
        source: "all nodes",
      },
    ];
  },
};

/** The node answers (rule 8). */
const reachable: Rule<NodeCheck> = {
  judge: ({ observation }) => (observation.isDown ? unfit("down", observation.failure?.kind ?? null) : fit),
  show({ view: { policy }, observation: { failure, failuresInRow } }) {
    const value = failure === null ? "last probe was answered" : `${failuresInRow} failed in a row: ${failure.detail}`;
    return [{ rule: "reachable", value, limit: `down after ${policy.fall} in a row, back after ${policy.rise}` }];
  },
};

/** The node's last report is recent (rule 1). */
const recent: Rule<NodeCheck> = {
  judge({ view, observation }) {
    if (observation.report === null) return unfit("unknown");
    const freshMs = freshUntilMs(observation, view.maxAgeMs);
    if (view.nowMs < freshMs) return validUntil(fit, freshMs);
    return unfitWithAge("stale", `${Math.round((view.nowMs - observation.sentAtMs) / 1000)}s`);
  },
  show({ view: { cluster, policy, nowMs, maxAgeMs }, observation }) {
    if (observation.report === null) return [{ rule: "freshness", value: "never answered" }];
    const bound = `max_age ${seconds(policy.maxAgeMs)}, ttl - loop_wait - retry_timeout ${seconds(lockBoundMs(cluster))}`;
    return [
      {
        rule: "freshness",
        value: `report is ${seconds(nowMs - observation.sentAtMs)} old`,
        limit: `${seconds(maxAgeMs)} (${bound})`,
      },
    ];
  },
};

/** The one exception to rule 1: the exporter's evidence makes a node fit that the rules above refuse. */
const survival = shownOnly<NodeCheck>(({ view, observation, check }) => {
  const claim = lastClaimOf(view.cluster);
  if (claim === null || isHeard(view, observation) || !graceOn(view, observation, check.route).isGranted) return [];
  const boundMs = graceBoundMs(view, claim) ?? claim.atMs;
  const standbys = observation.exporter?.page?.streaming ?? 0;
  return [
    {
      rule: "survival",
      value: `its exporter shows a running primary with ${standbys} streaming standbys; it held the lock ${seconds(view.nowMs - claim.atMs)} ago`,
      limit: `${seconds(boundMs - claim.atMs)} (guard survive)`,
      source: `exporter of ${observation.node.name}`,
    },
  ];
});

/** Whether there is evidence, and whether it is fresh (rules 1, 8 and 9), in the order of the reasons. */
export const freshnessRules: readonly Rule<NodeCheck>[] = [notBlind, reachable, recent, survival];
