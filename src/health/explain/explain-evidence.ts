import { formatLsn } from "../../cluster/values/lsn.ts";
import { ruleLine, seconds, skippedRule, type ExplainContext, type RuleLine } from "./rule-line.ts";
import { isFresh, lockBoundMs } from "../evidence/freshness.ts";
import { isDifferentAddress, identityMismatch } from "../evidence/identity.ts";
import { refusingUntilMs } from "../judge/liveness.ts";
import { lastClaimOf } from "../evidence/last-claim.ts";
import { withholdsPassword } from "../evidence/node-password.ts";
import { graceBoundMs, graceOn } from "../evidence/api-outage-grace.ts";

/** Rules 1, 8 and 9: whether there is evidence, and whether it is fresh. */
export function evidenceRules(subject: ExplainContext): readonly RuleLine[] {
  const { view, observation, check } = subject;
  const { cluster, policy, nowMs, maxAgeMs } = view;
  if (check.route === "liveness") return [livenessRule(subject)];
  const newestMs = nowMs - cluster.newestReportAtMs;
  const blind = ruleLine(subject, {
    rule: "not blind",
    value: Number.isFinite(newestMs)
      ? `newest report of any node is ${seconds(newestMs)} old`
      : "no node has ever answered",
    limit: cluster.nodes.length > 1 ? `some node within ${seconds(maxAgeMs)}` : "does not apply to a single node",
    refusal: view.isBlind ? "blind" : null,
    source: "all nodes",
  });
  const { failuresInRow, failure } = observation;
  const reachable = ruleLine(subject, {
    rule: "reachable",
    value:
      failure === null
        ? "last probe was answered"
        : `${failuresInRow} failed in a row: ${failure.kind} (${failure.detail})`,
    limit: `down after ${policy.fall} in a row, back after ${policy.rise}`,
    refusal: observation.isDown ? "down" : null,
  });
  if (observation.report === null) {
    const neverProbed = ruleLine(subject, { rule: "freshness", value: "never answered", refusal: "unknown" });
    return [blind, reachable, neverProbed, ...survivalRules(subject)];
  }
  const bound = `max_age ${seconds(policy.maxAgeMs)}, ttl - loop_wait - retry_timeout ${seconds(lockBoundMs(cluster))}`;
  const fresh = ruleLine(subject, {
    rule: "freshness",
    value: `report is ${seconds(nowMs - observation.sentAtMs)} old`,
    limit: `${seconds(maxAgeMs)} (${bound})`,
    refusal: isFresh(observation, maxAgeMs, nowMs) ? null : "stale",
  });
  return [blind, reachable, fresh, ...survivalRules(subject)];
}

/** The one exception to rule 1: the exporter's evidence makes a node fit that the rules above refuse. */
function survivalRules(subject: ExplainContext): readonly RuleLine[] {
  const { view, observation, check } = subject;
  const { exporter } = observation;
  const claim = lastClaimOf(view.cluster);
  if (claim === null || !graceOn(view, observation, check.route).isGranted) return [];
  const boundMs = graceBoundMs(view, claim) ?? claim.atMs;
  const database = `its exporter shows a running primary with ${exporter?.page?.streaming} streaming standbys`;
  return [
    ruleLine(subject, {
      rule: "survival",
      value: `${database}; it held the lock ${seconds(view.nowMs - claim.atMs)} ago`,
      limit: `${seconds(boundMs - claim.atMs)} (guard survive)`,
      source: `exporter of ${observation.node.name}`,
    }),
    ...unheardFloorRules(subject),
  ];
}

/** Of a primary whose claim is from an earlier run nothing says which writes its history contains. */
function unheardFloorRules(subject: ExplainContext): readonly RuleLine[] {
  const { minLsn } = subject.check;
  if (subject.observation.report !== null || minLsn === null || minLsn.timeline === null) return [];
  const limit = `${formatLsn(minLsn.position)} of timeline ${minLsn.timeline}`;
  return [ruleLine(subject, { rule: "min_lsn", value: "not known", limit, refusal: "min_lsn" })];
}

/** Rule 7: whether this is the configured node, and the database that the check names. */
export function identityRules(subject: ExplainContext): readonly RuleLine[] {
  const { view, observation, check } = subject;
  const { report, node } = observation;
  if (report === null || check.route === "liveness") return [];
  const { cluster } = view;
  const system = cluster.position?.system ?? null;
  const identity = view.policy.guards.sameSystem
    ? ruleLine(subject, {
        rule: "identity",
        value: `scope ${report.scope}, name ${report.name ?? "not stated"}, system ${report.system}`,
        limit: `scope ${cluster.scope}, name ${node.member}, system ${system ?? "unknown"}`,
        refusal: identityMismatch(cluster, observation, view.policy),
      })
    : skippedRule("identity", "guard same_system is off");
  const password = withholdsPassword(node, view.policy)
    ? [
        skippedRule(
          "node password",
          `withheld: ${node.api} is not https and comes from a member list, not from the configuration`,
        ),
      ]
    : [];
  if (check.database === null) return [identity, ...password];
  const known = node.database === null ? "not known" : `${node.database.host}:${node.database.port}`;
  const address = ruleLine(subject, {
    rule: "database address",
    value: `the check names ${check.database.host}:${check.database.port}`,
    limit: known,
    refusal: isDifferentAddress(check.database, node.database) ? "moved" : null,
    source: "the check",
  });
  return [identity, ...password, address];
}

function livenessRule(subject: ExplainContext): RuleLine {
  const { view, observation } = subject;
  const { liveness } = observation;
  const isRecent = liveness !== null && view.nowMs - liveness.sentAtMs < view.policy.livenessMaxAgeMs;
  const refuses = view.nowMs < refusingUntilMs(observation, view.policy);
  const isDead = isRecent && !liveness.isAlive;
  const heartbeat =
    liveness === null
      ? "never answered"
      : `${liveness.isAlive ? "200" : "503"}, ${seconds(view.nowMs - liveness.sentAtMs)} ago`;
  const refusal = refuses || isDead ? "down" : observation.report === null && liveness === null ? "unknown" : null;
  return {
    ...ruleLine(subject, {
      rule: "heartbeat",
      value: refuses ? "connections are refused" : heartbeat,
      limit: "only a fresh 503 or refused connections refuse",
      refusal,
    }),
    ageMs: liveness === null ? null : Math.round(view.nowMs - liveness.sentAtMs),
    source: `GET /liveness of ${observation.node.name}`,
  };
}
