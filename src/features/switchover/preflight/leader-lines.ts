import { nodeNamed } from "../../../core/cluster/lookup.ts";
import type { Observation } from "../../../core/cluster/observation.ts";
import { plainCheck } from "../../../core/health/check.ts";
import { listText, spanText } from "../../../core/health/wording.ts";
import type { ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { isHeard } from "../../../core/health/evidence/node/freshness.ts";
import { judge } from "../../../core/health/rules/judge.ts";
import { isWritableReport } from "../../../core/health/rules/lock.ts";
import type { SwitchoverStart } from "../machine/plan.ts";
import { errorLine, okLine, type PreflightLine } from "./preflight-line.ts";

const subject = "leader";
const waitHint = "Wait until one node leads: rolecall status shows which, and why others do not.";

/**
 * Whether exactly one node takes writes: the one that is to hand over.
 * @param asked the node that the caller takes for the leader, by its name or that of its member; `null`: whichever leads
 * @param start `announced`: it may say already that it stops
 */
export function leaderLine(view: ClusterView, asked: string | null, start: SwitchoverStart = "request"): PreflightLine {
  const { cluster, lock } = view;
  const holder = nodeNamed(cluster, lock.holder);
  if (holder === undefined) return errorLine(subject, noLeader(view), waitHint);
  const { name, member } = holder.node;
  if (asked !== null && asked !== name && asked !== member)
    return errorLine(subject, `must be ${asked}, got ${name}`, "Name the node that leads now, or none.");
  const verdict = judge(view, holder, plainCheck("primary"));
  const isStopping = start === "announced" && !verdict.fit && verdict.reason === "not_writable";
  if (!verdict.fit && !isStopping) {
    const figure = verdict.figure === null ? "" : ` ${verdict.figure}`;
    return errorLine(subject, `${name} must take writes, got ${verdict.reason}${figure}`, waitHint);
  }
  if (verdict.fit && verdict.isDegraded)
    return errorLine(subject, `${name} must answer, got its last evidence only`, waitHint);
  const rivals = cluster.nodes.filter((node) => node !== holder && isRival(view, node)).map(({ node }) => node.name);
  if (rivals.length > 0)
    return errorLine(subject, `${name} must be the only primary, got ${listText([name, ...rivals])}`, waitHint);
  const held =
    holder.claimedSinceMs === null ? "" : `, seen with the lock for ${spanText(view.nowMs - holder.claimedSinceMs)}`;
  return okLine(subject, `${name} is the only primary${isStopping ? ", and stops" : " that takes writes"}${held}`);
}

function noLeader({ isBlind, lock }: ClusterView): string {
  if (isBlind) return "must take writes, got no answer of any node";
  const claimants = listText(lock.claims.map(({ node }) => node.name));
  return lock.isContested
    ? `must be one node, got the claims of ${claimants}`
    : "must be a node that takes writes, got none";
}

/** Whether another node says that it holds the lock, or that it is a primary that takes writes. */
function isRival(view: ClusterView, observation: Observation): boolean {
  const { report, hasLock } = observation;
  if (report === null || !isHeard(view, observation)) return false;
  return hasLock || (report.role === "primary" && isWritableReport(report));
}
