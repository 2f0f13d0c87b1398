import type { Report } from "../../cluster/documents/report.ts";
import { observationDraftOf, type DcsContact, type Observation } from "../../cluster/observation.ts";
import { draftOf, type ClusterState, type Draft } from "../../cluster/snapshot.ts";
import { reachAfterAnswer } from "../evidence/node/fall-and-rise.ts";
import { isFresh } from "../evidence/node/freshness.ts";
import { afterSetBack } from "../evidence/attachment/set-back.ts";
import { settleLock, type SettledLockStatus } from "../evidence/leadership/lock-status.ts";
import { withNamed } from "../evidence/leadership/sender-chain.ts";
import { statementOf, withSilentReport, withStanding } from "../evidence/leadership/leader-statement.ts";
import { advancePosition } from "../evidence/position/position.ts";
import { withReceivedSamples } from "../evidence/position/received-samples.ts";
import { statesPosition } from "../evidence/node/report-position.ts";
import { returnAfter } from "../evidence/position/leader-return.ts";
import { carriedSamples, withSample } from "../evidence/position/time-lag.ts";
import type { EvaluationContext, HealthPolicy } from "../health-policy.ts";
import { deriveNodeFields, withOthersMeasured } from "./derived-fields.ts";
import { withHolderPosition } from "./holder-position.ts";

/** A node's report, whether the node claimed the lock with it, and when its probe was sent. */
type Answer = Pick<Observation, "hasLock" | "sentAtMs" | "sentAtWallMs"> & { readonly report: Report };

/** One node's observation before and after its report. */
interface NodeUpdate {
  /** The node's index in `nodes`. */
  readonly at: number;
  readonly before: Observation;
  readonly observation: Observation;
}

/** A cluster's state with a report, and who holds the lock in it. */
interface AppliedReport {
  readonly state: ClusterState;
  readonly lock: SettledLockStatus;
}

/** Returns the state with another observation of the node at the index `at`. */
export function replaceNode(cluster: ClusterState, at: number, observation: Observation): ClusterState {
  const next = draftOf(cluster);
  next.nodes = cluster.nodes.with(at, observation);
  return next;
}

/** Records an answer in a node's observation. */
export function withAnswer(
  before: Observation,
  answer: Answer,
  { policy, maxAge }: { readonly policy: HealthPolicy; readonly maxAge: number },
): Observation {
  const { report, hasLock, sentAtMs, sentAtWallMs } = answer;
  const { failuresInRow, answersInRow, failure, isDown } = reachAfterAnswer(before, policy);
  const after = observationDraftOf(before);
  after.report = report;
  after.hasLock = hasLock;
  after.sentAtMs = sentAtMs;
  after.sentAtWallMs = sentAtWallMs;
  after.failuresInRow = failuresInRow;
  after.answersInRow = answersInRow;
  after.failure = failure;
  after.isDown = isDown;
  after.claimedSinceMs = claimedSince(before, answer, maxAge);
  after.deniedSinceMs = deniedSince(before, answer, maxAge);
  if (hasLock) after.lastHeldAtMs = sentAtMs;
  after.dcsContact = dcsContactAfter(before, answer, maxAge);
  after.pausedSinceMs = report.isPaused ? (before.pausedSinceMs ?? sentAtMs) : null;
  return after;
}

/** In a silence longer than `max_age` the node itself may have stood still: it says nothing of the DCS. */
function dcsContactAfter(before: Observation, { report, sentAtMs }: Answer, maxAge: number): DcsContact | null {
  const { dcsContact } = before;
  const { dcsSeen } = report;
  if (dcsSeen === null) return null;
  const isSame = dcsSeen === dcsContact?.seen;
  if (isSame && isFresh(before, maxAge, sentAtMs)) return dcsContact;
  const formerForMs = dcsContact === null || isSame ? null : sentAtMs - dcsContact.statedSinceMs;
  return { seen: dcsSeen, statedSinceMs: sentAtMs, formerForMs };
}

/**
 * Since when a node has claimed the lock. A claim goes on while the node claims the lock for the same scope. Silence
 * longer than `max_age` ends it: another node may have held the lock meanwhile.
 */
function claimedSince(before: Observation, { hasLock, sentAtMs, report }: Answer, maxAge: number): number | null {
  if (!hasLock) return null;
  const isSameScope = before.report?.scope === report.scope;
  const isContinued = before.claimedSinceMs !== null && isSameScope && isFresh(before, maxAge, sentAtMs);
  return isContinued ? before.claimedSinceMs : sentAtMs;
}

/** Since when a node has reported that it holds no lock. As with a claim, a silence longer than `max_age` ends it. */
function deniedSince(before: Observation, { hasLock, sentAtMs }: Answer, maxAge: number): number | null {
  if (hasLock) return null;
  return before.deniedSinceMs !== null && isFresh(before, maxAge, sentAtMs) ? before.deniedSinceMs : sentAtMs;
}

/**
 * Records an answer and whether it claims the lock. What depends on the leader's position stays as it was.
 * @param scope the scope of the cluster once the answer is recorded
 * @returns the state with the observation, and with the lock claims and the time of the newest report updated
 */
export function withLockClaim(
  cluster: ClusterState,
  { at, observation }: Pick<NodeUpdate, "at" | "observation">,
  scope: string | null = cluster.scope,
): ClusterState {
  const { hasLock, sentAtMs } = observation;
  const next = draftOf(cluster);
  next.scope = scope;
  next.nodes = cluster.nodes.with(at, observation);
  next.lockClaims = lockClaimsWith(cluster.lockClaims, at, hasLock);
  next.newestReportAtMs = Math.max(cluster.newestReportAtMs, sentAtMs);
  return next;
}

function lockClaimsWith(claims: readonly number[], at: number, hasLock: boolean): readonly number[] {
  if (claims.includes(at) === hasLock) return claims;
  return hasLock ? [...claims, at] : claims.filter((index) => index !== at);
}

/**
 * Derives from one node's report what it shows of the cluster (scope, lock claims, the leader's position), of the node
 * itself, and of nodes that could not be measured before.
 */
export function applyReport(
  cluster: ClusterState,
  { at, before, observation }: NodeUpdate,
  context: EvaluationContext,
): AppliedReport {
  const { policy, nowMs } = context;
  const { report, sentAtMs, node } = observation;
  const scope = cluster.scope ?? report?.scope ?? null;
  const claimed = withLockClaim(cluster, { at, observation }, scope);
  // Nothing below changes who leads, so the lock is settled once.
  const lock = settleLock(claimed, policy, nowMs);
  const isHolder = lock.holder === node.name;
  // This report may have made another node the lock holder. The position that this other node stated earlier may count
  // now (rule 4).
  const standing = withStanding(claimed, lock.holder, nowMs);
  const withNewHolderPosition = isHolder ? standing : withHolderPosition(standing, lock, policy);
  const position = advancePosition(withNewHolderPosition, { before, observation, holder: lock.holder, nowMs }, policy);
  // The lock holder's report gives a new sample only if it states the leader's position. It does not if the holder's
  // query of PostgreSQL failed, or the holder is not promoted yet. To sample the known position again would give an old
  // value a new time.
  const givesSample = isHolder && report !== null && statesPosition(report);
  const returned = givesSample ? returnAfter(standing, observation, context) : null;
  // Keeps the earlier samples that are valid under the new position. For a newly promoted leader, its last report as a
  // replica (`before`) may give one more sample.
  const carried = carriedSamples(withNewHolderPosition, position, givesSample ? before : null);
  const positionSamples = givesSample ? withSample(carried, position, sentAtMs) : carried;
  const sampled: Draft = withNewHolderPosition;
  const { position: known } = sampled;
  sampled.position = position;
  sampled.positionSamples = positionSamples;
  const positioned: Draft = givesSample
    ? sampled
    : withSilentReport(withReceivedSamples(sampled, known, context), observation, policy);
  const derivation = { policy, nowMs, lock };
  const derived = deriveNodeFields(positioned, { before, after: observation }, derivation);
  positioned.nodes = withNamed(positioned.nodes.with(at, derived), derived);
  if (givesSample) {
    positioned.nodes = afterSetBack(positioned, derived);
    positioned.lastStatement = { ...statementOf(positioned, derived), returned };
  }
  return { state: withOthersMeasured(positioned, cluster.position, derivation), lock };
}
