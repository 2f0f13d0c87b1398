import { nodeNamed, nodeOfMember } from "../../../core/cluster/lookup.ts";
import type { Observation } from "../../../core/cluster/observation.ts";
import { formatByteSize } from "../../../core/cluster/values/byte-size.ts";
import { plainCheck } from "../../../core/health/check.ts";
import { listText } from "../../../core/health/wording.ts";
import type { ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { isInSenderChain } from "../../../core/health/evidence/leadership/sender-chain.ts";
import { isHeard } from "../../../core/health/evidence/node/freshness.ts";
import { lagBytes, timelineOf } from "../../../core/health/evidence/position/measure.ts";
import { inHistory, stream } from "../../../core/health/rules/attached.ts";
import { running } from "../../../core/health/rules/role-and-state.ts";
import { judgeAll } from "../../../core/health/rules/rule.ts";
import { errorLine, okLine, type PreflightLine } from "./preflight-line.ts";
import { requestRefusal } from "./request-refusal.ts";

const subject = "candidate";

/**
 * Whether the candidate can take over without delay: the gateway would send the request, and the node streams on the
 * leader's timeline. More is required than for a plain switchover: clients wait for this one.
 * @param asked the node that should lead, by its name or that of its member; `null`: the cluster elects one
 * @param isWritten whether rolecall writes addresses into the file of a pooler
 * @returns no line without a leader: then nobody can say
 */
export function candidateLines(view: ClusterView, asked: string | null, isWritten: boolean): readonly PreflightLine[] {
  const leader = nodeNamed(view.cluster, view.lock.holder);
  if (leader === undefined) return [];
  const context = { view, leader, isWritten };
  return [asked === null ? electedLine(context) : askedLine(context, asked)];
}

interface CandidateContext {
  readonly view: ClusterView;
  readonly leader: Observation;
  readonly isWritten: boolean;
}

function askedLine(context: CandidateContext, asked: string): PreflightLine {
  const { view } = context;
  const candidate = nodeOfMember(view.cluster, asked);
  const problem = problemOf(context, candidate?.node.member ?? asked);
  if (problem !== null) return errorLine(subject, problem, "Choose another candidate, or wait until this one is fit.");
  return okLine(subject, candidate === undefined ? asked : `${candidate.node.name} ${figuresOf(view, candidate)}`);
}

function electedLine(context: CandidateContext): PreflightLine {
  const { view, leader } = context;
  const hint = "Name a candidate, or wait until a node is fit.";
  const refusal = requestRefusal(view, leader.node.member, null);
  if (refusal !== null) return errorLine(subject, refusal.message, hint);
  const others = view.cluster.nodes.filter((node) => node !== leader);
  const judged = others.map((node) => ({ node, problem: problemOf(context, node.node.member) }));
  const problems = judged.flatMap(({ problem }) => problem ?? []);
  const fit = judged.filter(({ problem }) => problem === null);
  if (fit.length === 0) {
    const why = problems.length === 0 ? "no other node" : problems.slice(0, 5).join("; ");
    return errorLine(subject, `must be a node that can take over, got none: ${why}`, hint);
  }
  const names = fit.map(({ node }) => `${node.node.name} (${behind(view, node)})`);
  const unfit = problems.length === 0 ? "" : `; not fit: ${problems.slice(0, 5).join("; ")}`;
  return okLine(subject, `the cluster elects one of ${listText(names)}${unfit}`);
}

/** Why a member cannot take over; `null` if it can. */
function problemOf({ view, leader, isWritten }: CandidateContext, member: string): string | null {
  const refusal = requestRefusal(view, leader.node.member, member);
  if (refusal !== null) return refusal.message;
  const candidate = nodeOfMember(view.cluster, member);
  if (candidate === undefined) return `${member} must be a node that rolecall knows`;
  const { name } = candidate.node;
  const { report } = candidate;
  if (isWritten && candidate.node.database === null)
    return `${name} must have a known address of its database, which the file of a pooler needs, got none`;
  if (report === null || !isHeard(view, candidate)) return `${name} must answer, got no fresh report`;
  const context = { view, observation: candidate, report, check: plainCheck("replica") };
  const verdict = judgeAll([running, inHistory, stream], context);
  if (!verdict.fit)
    return `${name} must stream, got ${verdict.reason}${verdict.figure === null ? "" : ` ${verdict.figure}`}`;
  const isStreaming = report.replicationState === "streaming" || isInSenderChain(view, name);
  if (!isStreaming) return `${name} must stream, got ${report.replicationState ?? "no sender that lists it"}`;
  const timeline = timelineOf(candidate);
  const leaders = view.cluster.position?.timeline ?? null;
  if (timeline !== null && leaders !== null && timeline !== leaders)
    return `${name} must be on timeline ${leaders}, got ${timeline}`;
  return null;
}

/** How far it is, and its part in synchronous replication. */
function figuresOf(view: ClusterView, candidate: Observation): string {
  const timeline = timelineOf(candidate);
  const max = view.cluster.config?.lagMaxOnFailover;
  const allowed = max === undefined ? "the limit is not known" : `${formatByteSize(max)} are allowed`;
  const where = timeline === null ? "its timeline is not known" : `on timeline ${timeline}`;
  const { isSyncStandby = false, isQuorumStandby = false } = candidate.report ?? {};
  const part = isSyncStandby ? ", synchronous standby" : isQuorumStandby ? ", standby of the quorum" : "";
  return `streams, ${behind(view, candidate)} (${allowed}), ${where}${part}`;
}

function behind(view: ClusterView, candidate: Observation): string {
  const lag = lagBytes(view, candidate, "received");
  return lag === null ? "its lag is not known" : `${formatByteSize(lag)} behind`;
}
