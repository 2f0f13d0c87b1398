import type { Observation } from "../../cluster/observation.ts";
import type { ExporterOutcome, LivenessOutcome, ProbeOutcome, StatusOutcome } from "../../cluster/outcome.ts";
import type { Report } from "../../cluster/documents/report.ts";
import type { ClusterState, DocumentAnswer } from "../../cluster/snapshot.ts";
import { recordUnchanged } from "./unchanged-report.ts";
import { withDrains } from "./drains.ts";
import { reportFromExporter, isPrimarySource } from "../evidence/report-from-exporter.ts";
import { isAgeOnlyChange } from "./revision.ts";
import { unanswered } from "../evidence/failures.ts";
import { isFresh, maxAgeMs } from "../evidence/freshness.ts";
import { withIncumbent } from "./incumbent.ts";
import { settleLock, type SettledLockStatus } from "../evidence/lock-status.ts";
import { withDivergence } from "../evidence/divergence.ts";
import { withMembers } from "./membership.ts";
import { advancePosition, estimatePosition, hasPosition } from "../evidence/position.ts";
import { observeExporter } from "./observe-exporter.ts";
import { deriveNodeFields, withListedMeasured, restartWindows } from "./derived-fields.ts";
import type { HealthPolicy } from "../health-policy.ts";
import { withFailedView, withView } from "../evidence/leader-views.ts";
import { viewWithLeader } from "../evidence/cluster-view.ts";
import { carriedSamples, withSample } from "../evidence/time-lag.ts";

/** What an outcome is taken in by, and when. */
export interface ObserveContext {
  readonly policy: HealthPolicy;
  /** The instant of recording, in ms of our clock. */
  readonly nowMs: number;
}

/**
 * Takes one outcome into a cluster's part and gives the next one. Pure: probes write through this and nothing else.
 * @returns the same part when the outcome says nothing new (an unknown node, an answer older than the one held)
 */
export function observe(cluster: ClusterState, outcome: ProbeOutcome, context: ObserveContext): ClusterState {
  const next = apply(withIncumbent(cluster, context), outcome, context);
  return next === cluster || isAgeOnlyChange(cluster, next, context)
    ? next
    : { ...next, revision: cluster.revision + 1 };
}

function apply(cluster: ClusterState, outcome: ProbeOutcome, context: ObserveContext): ClusterState {
  switch (outcome.kind) {
    case "status":
      return recordUnchanged(cluster, outcome, context) ?? withStatus(cluster, outcome, context);
    case "liveness":
      return withLiveness(cluster, outcome);
    case "document":
      return updateLeadership(cluster, withDocument(cluster, outcome.answer, context), context);
    case "view_failure":
      return updateLeadership(cluster, withFailedView(cluster, outcome.node, outcome.sentAtMs), context);
    case "drain":
      return withDrains(cluster, outcome.node, { drain: outcome.drain, nowMs: context.nowMs });
    case "exporter":
      return updateLeadership(cluster, withExporter(cluster, outcome, context), context);
  }
}

/**
 * Remembers who holds the lock now: the next dispute is judged by it, a new holder may have to wait for the old one's yes to
 * be gone, and what counts against a leader counts anew against another.
 */
function updateLeadership(
  before: ClusterState,
  cluster: ClusterState,
  context: ObserveContext & { readonly lock?: SettledLockStatus },
): ClusterState {
  const { policy, nowMs } = context;
  const lock = context.lock ?? settleLock(cluster, policy, nowMs);
  const { holder, claims, leadership, lost } = lock;
  const stood = holder ?? (claims.length === 0 ? cluster.lastUncontestedLeader : null);
  const isOther =
    (stood !== null && stood !== before.lastUncontestedLeader) ||
    cluster.position?.timeline !== before.position?.timeline;
  const anew = isOther ? restartWindows(cluster, nowMs) : cluster;
  const current = withDivergence(anew, (seen) => viewWithLeader(seen, lock, context));
  const isSame = leadership === cluster.leadership && lost === cluster.lost;
  if (isSame && stood === cluster.lastUncontestedLeader && holder === cluster.lockHolder) return current;
  const leaderLoss =
    cluster.lockHolder !== null && holder !== cluster.lockHolder
      ? { from: cluster.lockHolder, atMs: nowMs }
      : cluster.lastLeaderLoss;
  return withIncumbent(
    { ...current, lastUncontestedLeader: stood, leadership, lost, lockHolder: holder, lastLeaderLoss: leaderLoss },
    context,
  );
}

function withStatus(cluster: ClusterState, outcome: StatusOutcome, context: ObserveContext): ClusterState {
  const { policy } = context;
  const at = cluster.index.get(outcome.node);
  const before = at === undefined ? undefined : cluster.nodes[at];
  if (at === undefined || before === undefined || outcome.sentAtMs < before.sentAtMs)
    return updateLeadership(cluster, cluster, context);
  const { result, sentAtMs, sentAtWallMs } = outcome;
  // What was never sent shows nothing of the node: its evidence ages, and so says that we are blind (rule 9).
  if ("failure" in result && result.failure.kind === "not_sent") return updateLeadership(cluster, cluster, context);
  if ("failure" in result)
    return updateLeadership(
      cluster,
      withNode(cluster, at, unanswered(before, { failure: result.failure, sentAtMs }, policy)),
      context,
    );
  const observation = answered(
    before,
    { ...result, sentAtMs, sentAtWallMs },
    { settings: policy, maxAge: maxAgeMs(cluster, policy) },
  );
  const { heard, settled: lock } = withReport(cluster, { at, before, observation }, context);
  return updateLeadership(cluster, heard, { ...context, lock });
}

type Answer = Pick<Observation, "hasLock" | "sentAtMs" | "sentAtWallMs"> & { readonly report: Report };

function answered(
  before: Observation,
  answer: Answer,
  by: { readonly settings: HealthPolicy; readonly maxAge: number },
): Observation {
  const answersInRow = before.answersInRow + 1;
  return {
    ...before,
    ...answer,
    claimedSinceMs: claimedSince(before, answer, by.maxAge),
    lastHeldAtMs: answer.hasLock ? answer.sentAtMs : before.lastHeldAtMs,
    failuresInRow: 0,
    answersInRow,
    failure: null,
    isDown: before.isDown && answersInRow < by.settings.rise,
  };
}

/** A claim is a row of 200s; silence longer than `max_age` breaks it, for the lock may have been elsewhere meanwhile. */
function claimedSince(before: Observation, { hasLock, sentAtMs }: Answer, maxAge: number): number | null {
  if (!hasLock) return null;
  const goesOn = before.claimedSinceMs !== null && isFresh(before, maxAge, sentAtMs);
  return goesOn ? before.claimedSinceMs : sentAtMs;
}

interface NodeUpdate {
  readonly at: number;
  /** What was known of the node when its report came, and what is with it. */
  readonly before: Observation;
  readonly observation: Observation;
}

/** A part with a report taken in, and who holds the lock in it. */
interface Applied {
  readonly heard: ClusterState;
  readonly settled: SettledLockStatus;
}

/** What one node's report says of the whole cluster (its scope, the claims on the lock, the leader's position), and that of it. */
function withReport(cluster: ClusterState, { at, before, observation }: NodeUpdate, context: ObserveContext): Applied {
  const { policy, nowMs } = context;
  const { report, hasLock, sentAtMs } = observation;
  const claimed: ClusterState = {
    ...cluster,
    nodes: cluster.nodes.with(at, observation),
    scope: cluster.scope ?? report?.scope ?? null,
    lockClaims: claimsWith(cluster.lockClaims, at, hasLock),
    newestReportAtMs: Math.max(cluster.newestReportAtMs, sentAtMs),
  };
  // Nothing of what follows has a word in who leads, so once is enough.
  const lock = settleLock(claimed, policy, nowMs);
  const isHolder = lock.holder === observation.node.name;
  const position = advancePosition(claimed, { before, observation, holder: lock.holder, nowMs }, policy);
  // A leader that states no position (its own query failed) may have moved on unseen.
  const isMeasured = isHolder && report !== null && hasPosition(report);
  const carried = carriedSamples(claimed, position, isMeasured ? before : null);
  const positionSamples = isMeasured ? withSample(carried, position, sentAtMs) : carried;
  const measured: ClusterState = { ...claimed, position, positionSamples };
  const bearings = { policy, nowMs, lock };
  const noted = withNode(measured, at, deriveNodeFields(measured, { before, after: observation }, bearings));
  return {
    heard: withListedMeasured(noted, { lister: observation, known: cluster.position }, bearings),
    settled: lock,
  };
}

function claimsWith(claims: readonly number[], at: number, hasLock: boolean): readonly number[] {
  if (claims.includes(at) === hasLock) return claims;
  return hasLock ? [...claims, at] : claims.filter((index) => index !== at);
}

function withLiveness(cluster: ClusterState, outcome: LivenessOutcome): ClusterState {
  const at = cluster.index.get(outcome.node);
  const before = at === undefined ? undefined : cluster.nodes[at];
  if (at === undefined || before === undefined) return cluster;
  return withNode(cluster, at, { ...before, liveness: { isAlive: outcome.isAlive, sentAtMs: outcome.sentAtMs } });
}

/** An exporter is a witness beside the node's API; of a node without one it speaks for the node itself. */
function withExporter(cluster: ClusterState, outcome: ExporterOutcome, context: ObserveContext): ClusterState {
  const { policy } = context;
  const at = cluster.index.get(outcome.node);
  const known = at === undefined ? undefined : cluster.nodes[at];
  if (at === undefined || known === undefined) return cluster;
  const { result, sentAtWallMs } = outcome;
  if ("failure" in result && result.failure.kind === "not_sent") return cluster;
  const exporter = observeExporter(known.exporter, outcome);
  const before = { ...known, exporter };
  const noted = withNode(cluster, at, before);
  if (known.node.api !== null || exporter === known.exporter) return noted;
  if ("failure" in result)
    return isPrimarySource(exporter, result.asked)
      ? withNode(cluster, at, unanswered(before, { failure: result.failure, sentAtMs: outcome.sentAtMs }, policy))
      : noted;
  const answer = reportFromExporter(noted, known.node, exporter);
  if (answer === null) return noted;
  const isPage = result.asked === "metrics";
  // Positions are as old as their page, and a page may be older than the last word.
  const sentAtMs = isPage ? Math.min(answer.sentAtMs, outcome.sentAtMs) : answer.sentAtMs;
  const observation = answered(
    before,
    { ...answer, sentAtMs, sentAtWallMs },
    { settings: policy, maxAge: maxAgeMs(cluster, policy) },
  );
  if (isPage) return withReport(noted, { at, before, observation }, context).heard;
  const heard = withNode(noted, at, observation);
  return {
    ...heard,
    lockClaims: claimsWith(heard.lockClaims, at, answer.hasLock),
    newestReportAtMs: Math.max(heard.newestReportAtMs, sentAtMs),
  };
}

function withDocument(state: ClusterState, answer: DocumentAnswer, { policy, nowMs }: ObserveContext): ClusterState {
  const { name, served, cluster, config, history } = answer;
  if (cluster !== undefined && cluster.scope !== null && state.scope !== null && cluster.scope !== state.scope)
    return state;
  const next: ClusterState = {
    ...state,
    documents: { ...state.documents, [name]: served },
    config: config ?? state.config,
    switchPoints: history ?? state.switchPoints,
  };
  if (cluster === undefined) return next;
  const scoped = { ...next, scope: next.scope ?? cluster.scope };
  const { source, sentAtMs } = served;
  const known = policy.discovers ? withMembers(scoped, { ...cluster, source, sentAtMs }, policy) : scoped;
  // The leader may be a member that this very document made known.
  const listed = withView(known, cluster, { witness: source, sentAtMs, nowMs });
  const position = estimatePosition(listed, policy, nowMs);
  return position === listed.position
    ? listed
    : { ...listed, position, positionSamples: carriedSamples(listed, position, null) };
}

function withNode(cluster: ClusterState, at: number, observation: Observation): ClusterState {
  return { ...cluster, nodes: cluster.nodes.with(at, observation) };
}
