import { aliveUntilMs, isDatabaseAlive } from "../evidence/leadership/exporter-claims.ts";
import { disagreement } from "../evidence/leadership/exporter-disagreement.ts";
import type { Reason } from "../reason.ts";
import { fit, unfit, unfitWithAge, validUntil, type Unfit } from "../verdict.ts";
import { seconds, shownOnly, skipped, type NodeCheck, type Rule, type RuleContext, type Shown } from "./rule.ts";

/** What the exporter of a node with an API shows. It decides nothing. */
export const secondWitness: Rule<NodeCheck> = shownOnly(({ view, observation }) => {
  const { exporter, node } = observation;
  if (node.exporter === null) return [];
  const source = `GET /up of the exporter of ${node.name}`;
  if (exporter === null || exporter.up === null)
    return [skipped("exporter", `no answer: ${exporter?.upFailure?.detail ?? "never probed"}`)];
  const status = `${exporter.up.role}, ${seconds(view.nowMs - exporter.up.sentAtMs)} ago`;
  const differing = disagreement(view, observation);
  const value =
    differing === null ? status : `DISAGREES: the exporter reports ${status}, the API reports ${differing.node}`;
  return [{ ...skipped("exporter", value), limit: "for information only", source }];
});

/**
 * What every yes of a node needs that is known through its exporter alone: a running database with one role, which a
 * page of metrics proves to be at work.
 */
export const onlyWitness: Rule = {
  judge({ view: { policy, nowMs }, observation, report }) {
    if (report.state === "stopped") return unfit("down", "database");
    if (report.state === "starting") return unfit("not_running", report.state);
    if (report.state !== "running") return unfit("unknown", report.state);
    if (report.role === "pooler") return unfit("wrong_role", report.role);
    if (!isDatabaseAlive(observation, policy, nowMs)) {
      const provenAtMs = observation.exporter?.provenAtMs ?? -Infinity;
      return provenAtMs === -Infinity
        ? unfit("unknown", "no proof")
        : unfitWithAge("stale", `${Math.round((nowMs - provenAtMs) / 1000)}s`);
    }
    return validUntil(report.role === "unknown" ? unfit("unknown", "role") : fit, aliveUntilMs(observation, policy));
  },
  show(context, refusal) {
    const { report } = context;
    if (refusal !== "not_running" && refusal !== "wrong_role") return [activity(context, refusal)];
    const value = `state ${report.state}, role ${report.role}`;
    return [activity(context, null), { rule: "database", value, limit: "a running database, no pooler", refusal }];
  },
};

function activity({ view, observation, report }: RuleContext, refusal: Reason | null): Shown {
  const { exporter, node } = observation;
  const provenAtMs = exporter?.provenAtMs ?? -Infinity;
  const age = provenAtMs === -Infinity ? "no page proves it" : `${seconds(view.nowMs - provenAtMs)} ago`;
  return {
    rule: "database activity",
    value: `${age}; status ${exporter?.up?.role ?? "none"}, role ${report.role}`,
    limit: `a page whose own database time advanced, within ${seconds(view.policy.pageMaxAgeMs)}`,
    source: `GET /metrics of the exporter of ${node.name}`,
    refusal,
  };
}

const noManager: Unfit = unfit("no_manager");

/** What only a cluster manager knows: the lock, synchronous and quorum standbys. */
export const clusterManager: Rule = {
  judge: () => noManager,
  show: () => [{ rule: "cluster manager", value: "none: the node is known only through its exporter" }],
};
