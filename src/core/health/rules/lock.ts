import { nodeNamed } from "../../cluster/lookup.ts";
import type { Report } from "../../cluster/documents/report.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { strayOf } from "../evidence/leadership/stray-primary.ts";
import { isPast } from "../evidence/node/freshness.ts";
import { hasPosition } from "../evidence/node/report-position.ts";
import { fit, unfit, unfitWithAge, validUntil, type Unfit, type Verdict } from "../verdict.ts";
import { decisionOf } from "./leader-views.ts";
import { seconds, type NodeCheck, type Rule, type RuleContext } from "./rule.ts";

/**
 * States in which a database takes no writes, besides those that end in `failed`, and `restarting` without a position
 * (rule 3). `unknown` (its query timed out) is not one of them.
 */
const unwritable: ReadonlySet<string> = new Set(["stopping", "stopped", "starting", "crashed"]);

/** How long a node that lost the lock is `demoted` for its sessions at least, in ms: three checks at 20 s. */
const demotedForSessionsMs = 60_000;

/** The node is no primary beside the one that leads (rule 2): its clients would write what the cluster loses. */
export const notStray: Rule = {
  judge({ view, observation }) {
    const stray = strayOf(view, observation);
    return stray === null ? fit : validUntil(unfit("stray_primary", stray.beside), view.lock.validUntilMs);
  },
  show({ view, observation }) {
    const stray = strayOf(view, observation);
    return stray === null
      ? []
      : [
          {
            rule: "one primary",
            value: `is a running primary without the lock, for ${seconds(observation.sentAtMs - stray.sinceMs)}`,
            limit: `${stray.beside} alone, which holds the lock`,
          },
        ];
  },
};

/** The node holds the cluster's lock: rule 2 decides between several that claim it. */
export const lock: Rule = {
  judge({ view, observation, report, check }) {
    const untilMs = lockUntilMs(view, observation);
    if (holdsLock(view, observation)) return validUntil(judgeHandover(view, observation.node.name), untilMs);
    if (observation.hasLock) return validUntil(refuseClaim(view, observation), untilMs);
    const { lastHeldAtMs } = observation;
    const demotedUntilMs = lastHeldAtMs === null ? -Infinity : lastHeldAtMs + demotedForMs(view, check);
    return view.nowMs < demotedUntilMs
      ? validUntil(unfit("demoted", report.role), demotedUntilMs)
      : unfit("wrong_role", report.role);
  },
  show: showLock,
};

/** The node holds the lock, whatever a handover waits for. */
export const holder: Rule = {
  judge: ({ view, observation, report }) =>
    validUntil(holdsLock(view, observation) ? fit : unfit("wrong_role", report.role), lockUntilMs(view, observation)),
  show: showLock,
};

function showLock({ view, observation }: NodeCheck): ReturnType<Rule["show"]> {
  const [claims, claimsNot] = isPast(view, observation) ? ["claimed", "did not claim"] : ["claims", "does not claim"];
  const names = view.lock.claims.map(({ node }) => node.name);
  const claimants = names.length === 0 ? "nobody claims it" : `claimed by ${names.join(", ")}`;
  return [
    {
      rule: "lock",
      value: `${observation.hasLock ? claims : claimsNot} the lock; ${claimants}`,
      limit: view.policy.guards.exclusivePrimary
        ? decisionOf(view)
        : "guard exclusive_primary is off: the node's own claim counts",
    },
  ];
}

/** The node leads no standby cluster, and its status shows a writable database (rule 3). */
export const writable: Rule = {
  judge(context) {
    const { role, state } = context.report;
    if (leadsStandbyCluster(context)) return unfit("wrong_role", role);
    if (!context.view.policy.guards.runningPrimary || isWritableReport(context.report)) return fit;
    return unfit("not_writable", role === "replica" || role === "demoted" ? role : state);
  },
  show: (context) => showState(context, "writable"),
};

/** The node leads a standby cluster. */
export const standbyCluster: Rule = {
  judge: (context) => (leadsStandbyCluster(context) ? fit : unfit("wrong_role", context.report.role)),
  show: (context) => showState(context, "standby cluster"),
};

function showState({ view, observation, report }: RuleContext, rule: string): ReturnType<Rule["show"]> {
  if (!holdsLock(view, observation)) return [];
  const tense = isPast(view, observation) ? "was " : "";
  const limit = view.policy.guards.runningPrimary
    ? "a document that does not contradict the lock"
    : "guard running_primary is off";
  return [{ rule, value: `${tense}role ${report.role}, state ${report.state}`, limit }];
}

/** How long a node that lost the lock counts as demoted, in ms. No check for open sessions may miss it. */
function demotedForMs({ policy }: ClusterView, { isForSessions }: Check): number {
  const { demotedForMs: configuredMs } = policy.guards;
  return isForSessions ? Math.max(configuredMs, demotedForSessionsMs) : configuredMs;
}

/**
 * Refuses a claim that is not accepted. After the distrust of its node has ended by time, it is not decided anew who
 * leads until that is recorded: the claim is refused for the distrust until then, and not as one of two.
 */
function refuseClaim(view: ClusterView, { node }: Observation): Unfit {
  const isLost = view.cluster.leadership.lostClaims.has(node.name);
  if (view.lock.isContested && !isLost) return unfit("contested");
  const drain = view.cluster.drains.get(node.name);
  const isOpen = drain?.extent === "distrust" && !isLost && view.lock.holder === null;
  return isOpen ? unfit("distrusted", drain.reason) : unfit("superseded", view.lock.holder);
}

/**
 * Whether the document of a lock holder allows for a writable database (rule 3). A node that is `restarting` still
 * answers queries, and states its position, until PostgreSQL shuts down.
 */
export function isWritableReport(report: Report): boolean {
  const { role, state } = report;
  if (role === "replica" || role === "demoted") return false;
  if (state === "restarting") return hasPosition(report);
  return !unwritable.has(state) && !state.endsWith("failed");
}

/**
 * Makes a new leader wait until every balancer has seen the no of the old leader. Balancers do not check all nodes at
 * the same moment.
 */
function judgeHandover({ cluster, policy, nowMs }: ClusterView, name: string): Verdict {
  const { lastLoss } = cluster.leadership;
  const { handoverHoldMs, surviveMs } = policy.guards;
  if (lastLoss === null || lastLoss.node === name) return fit;
  // With `survive` the old primary may keep its yes until the new claim appears.
  const claimedAtMs = surviveMs > 0 ? (nodeNamed(cluster, name)?.claimedSinceMs ?? -Infinity) : -Infinity;
  const holdUntilMs = Math.max(lastLoss.atMs, claimedAtMs) + handoverHoldMs;
  return nowMs < holdUntilMs
    ? validUntil(unfitWithAge("held_back", `${Math.ceil(holdUntilMs - nowMs)}ms`), holdUntilMs)
    : fit;
}

/**
 * Whether the node holds the lock, whatever PostgreSQL's role is. With the guard `exclusive_primary` off, each node's
 * own claim counts.
 */
export function holdsLock(view: ClusterView, { node, hasLock }: Observation): boolean {
  return view.policy.guards.exclusivePrimary ? view.lock.holder === node.name : hasLock;
}

/**
 * Until when the answer of `holdsLock` stays valid if no outcome is recorded, in ms of rolecall's clock. Only a claim
 * can become too old.
 */
export function lockUntilMs(view: ClusterView, { hasLock }: Observation): number {
  return hasLock && view.policy.guards.exclusivePrimary ? view.lock.validUntilMs : Infinity;
}

/**
 * Whether the node leads a standby cluster. Its role says so; a node that is still starting says `replica`, and then
 * the configuration decides. A leader that says `primary` is not a standby leader: the configuration may be half a
 * minute older than its promotion.
 */
export function leadsStandbyCluster({ view, report }: RuleContext): boolean {
  return (
    report.role === "standby_leader" || (report.role === "replica" && view.cluster.config?.isStandbyCluster === true)
  );
}
