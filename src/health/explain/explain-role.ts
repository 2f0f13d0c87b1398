import type { Report } from "../../cluster/documents/report.ts";
import { ruleLine, skippedRule, type ExplainContext, type RuleLine } from "./rule-line.ts";
import { holdsLock, judgeLock, judgePrimary, judgeStandbyLeader } from "../judge/lock.ts";
import { isReadyWhileRunning } from "../judge/replica.ts";
import { dcsRule, decisionOf, viewsRule } from "./explain-views.ts";
import { isPast } from "./past-evidence.ts";
import type { Route } from "../route.ts";
import type { Verdict } from "../verdict.ts";

const lockRoutes: ReadonlySet<Route> = new Set(["primary", "standby-leader", "leader"]);
/** Routes that accept the leader and replicas alike. */
const eitherRoutes: ReadonlySet<Route> = new Set(["read-only", "read-only-sync", "read-only-quorum", "readiness"]);

/** Whether the verdicts of a route depend on a replica's attachment and lag. */
export function hasReplicaRules(route: Route): boolean {
  return !lockRoutes.has(route) && route !== "health" && route !== "liveness";
}

/** Whether the rules of `roleRules` apply to a route: unlike the rules for replicas, they also apply to `health`. */
function hasRoleRules(route: Route): boolean {
  return !lockRoutes.has(route) && route !== "liveness";
}

/** Rules 2 and 3 of docs/judgement.md: who holds the lock, and whether the holder's database contradicts that. */
export function lockRules(subject: ExplainContext): readonly RuleLine[] {
  const { view, observation, check } = subject;
  const { report } = observation;
  if (report === null || (!lockRoutes.has(check.route) && !eitherRoutes.has(check.route))) return [];
  const mayPassOtherwise = mayBeReplica(check.route, report) || passesAsLeader(subject, report);
  const lock = judgeLock(view, { observation, report });
  const { claims } = view.lock;
  const rows = [
    ...(claims.length === 0 ? [] : [viewsRule(subject)]),
    ...(view.cluster.dcs === null ? [] : [dcsRule(subject, view.cluster.dcs)]),
    ruleLine(subject, {
      rule: "lock",
      value: `${ownClaim(subject)} the lock; ${claimsOf(claims.map(({ node }) => node.name))}`,
      limit: view.policy.guards.exclusivePrimary
        ? decisionOf(view)
        : "guard exclusive_primary is off: the node's own claim counts",
      refusal: mayPassOtherwise || lock.fit ? null : lock.reason,
    }),
  ];
  // `/leader` and `/readiness` do not require that the leader's database is writable.
  if (check.route === "leader" || check.route === "readiness" || !lock.fit) return rows;
  const verdict: Verdict =
    check.route === "standby-leader"
      ? judgeStandbyLeader(view, { observation, report })
      : judgePrimary(view, { observation, report });
  rows.push(
    ruleLine(subject, {
      rule: check.route === "standby-leader" ? "standby cluster" : "writable",
      value: `${tenseOf(subject)}role ${report.role}, state ${report.state}`,
      limit: view.policy.guards.runningPrimary
        ? "a document that does not contradict the lock"
        : "guard running_primary is off",
      refusal: mayPassOtherwise || verdict.fit ? null : verdict.reason,
    }),
  );
  return rows;
}

/** What the route requires of the role, state and tag `noloadbalance` of a node that does not pass as the leader. */
export function roleRules(subject: ExplainContext): readonly RuleLine[] {
  const { observation, check } = subject;
  const { report } = observation;
  if (report === null || !hasRoleRules(check.route)) return [];
  if (passesAsLeader(subject, report)) return [skippedRule("role and state", "it passes as the leader")];
  if (eitherRoutes.has(check.route) && !mayBeReplica(check.route, report))
    return [skippedRule("role and state", "it is no replica, so it must be the leader")];
  const rows: RuleLine[] = [];
  const isReplicaRoute = check.route !== "health" && check.route !== "readiness";
  if (isReplicaRoute)
    rows.push(
      ruleLine(subject, {
        rule: "role",
        value: tenseOf(subject) + report.role,
        limit: "replica",
        refusal: report.role === "replica" ? null : "wrong_role",
      }),
    );
  rows.push(
    ruleLine(subject, {
      rule: "state",
      value: tenseOf(subject) + report.state,
      limit: "running",
      refusal: report.state === "running" ? null : "not_running",
    }),
  );
  if (check.route === "readiness" && !isReadyWhileRunning(report)) {
    const found = report.replicationState;
    const refusal = found === "streaming" ? null : "replication_state";
    rows.push(
      ruleLine(subject, { rule: "replication state", value: found ?? "not reported", limit: "streaming", refusal }),
    );
  }
  if (!isReplicaRoute) return rows;
  const isOut = report.isNoLoadBalance;
  rows.push(
    ruleLine(subject, {
      rule: "noloadbalance",
      value: isOut ? "tag is set" : "not set",
      refusal: isOut ? "noloadbalance" : null,
    }),
  );
  return rows;
}

/** The remaining requirements: synchrony, which a leader need not have, and tags. */
export function suitabilityRules(subject: ExplainContext): readonly RuleLine[] {
  const { observation, check } = subject;
  const { report } = observation;
  if (report === null || !hasRoleRules(check.route) || check.route === "readiness") return [];
  const rows = passesAsLeader(subject, report) ? [] : synchronyRules(subject, report);
  for (const [key, wanted] of check.tags) {
    const found = report.tags.get(key)?.text;
    rows.push(
      ruleLine(subject, {
        rule: `tag ${key}`,
        value: found ?? "not set",
        limit: wanted,
        refusal: found === wanted ? null : "tag",
      }),
    );
  }
  return rows;
}

/**
 * Whether the route accepts the leader as well as replicas, and accepts this node as the leader. The rules for replicas
 * do not apply to it then.
 */
export function passesAsLeader({ view, observation, check }: ExplainContext, report: Report): boolean {
  if (!eitherRoutes.has(check.route)) return false;
  if (check.route === "readiness") return holdsLock(view, observation);
  const reportedNode = { observation, report };
  return judgePrimary(view, reportedNode).fit || judgeStandbyLeader(view, reportedNode).fit;
}

/**
 * Whether a node that does not pass as the leader may pass as a replica: the `read-only` routes accept no other role,
 * and say what keeps such a node from being the leader.
 */
function mayBeReplica(route: Route, report: Report): boolean {
  return eitherRoutes.has(route) && (route === "readiness" || report.role === "replica");
}

function synchronyRules(subject: ExplainContext, report: Report): RuleLine[] {
  const { route } = subject.check;
  const { isSyncStandby: sync, isQuorumStandby: quorum } = report;
  const value = sync ? "synchronous standby" : quorum ? "quorum standby" : "asynchronous standby";
  if (route.endsWith("quorum"))
    return [
      ruleLine(subject, { rule: "synchrony", value, limit: "quorum standby", refusal: quorum ? null : "not_quorum" }),
    ];
  if (route === "async")
    return [
      ruleLine(subject, {
        rule: "synchrony",
        value,
        limit: "asynchronous",
        refusal: sync || quorum ? "not_async" : null,
      }),
    ];
  return route.endsWith("sync")
    ? [ruleLine(subject, { rule: "synchrony", value, limit: "synchronous standby", refusal: sync ? null : "not_sync" })]
    : [];
}

/** Whether the node claims the lock: in the past tense if its last report no longer describes the present. */
function ownClaim({ view, observation }: ExplainContext): string {
  if (isPast(view, observation)) return observation.hasLock ? "claimed" : "did not claim";
  return observation.hasLock ? "claims" : "does not claim";
}

/** What precedes a role or a state: `was ` if the node's last report no longer describes the present. */
function tenseOf({ view, observation }: ExplainContext): string {
  return isPast(view, observation) ? "was " : "";
}

function claimsOf(names: readonly string[]): string {
  return names.length === 0 ? "nobody claims it" : `claimed by ${names.join(", ")}`;
}
