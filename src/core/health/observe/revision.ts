import type { CompanionEvidence } from "../../cluster/companion.ts";
import type { Liveness, Observation } from "../../cluster/observation.ts";
import type { ClusterState, PositionSample } from "../../cluster/snapshot.ts";
import { isFresh, maxAgeMs } from "../evidence/node/freshness.ts";
import type { EvaluationContext } from "../health-policy.ts";

/**
 * The fields of a cluster that may differ while only ages change. Every other field, a new one too, must be the same
 * object. Nodes and position samples are compared separately.
 */
const ageingFields: ReadonlySet<keyof ClusterState> = new Set([
  "sequence",
  "revision",
  "contacts",
  "nodes",
  "positionSamples",
  "lastStatement",
  "newestReportAtMs",
]);

/**
 * The same for a node. The count of answers and the time of the last lock do not matter for a node that answers. The
 * heartbeat, the lag samples and the companions are compared separately.
 */
const ageingNodeFields: ReadonlySet<keyof Observation> = new Set([
  "sentAtMs",
  "sentAtWallMs",
  "countedAtMs",
  "answersInRow",
  "lastHeldAtMs",
  "liveness",
  "dampedLag",
  "dcsContact",
  "companions",
]);

/** What a check of a companion changes of a node. */
const besideFields: ReadonlySet<keyof Observation> = new Set(["companions"]);

/** The same for what is known of a companion. */
const ageingCompanionFields: ReadonlySet<keyof CompanionEvidence> = new Set(["sentAtMs", "answersInRow"]);

/**
 * Whether an outcome changed nothing but the age of a report, so that a verdict on the state before also holds for the
 * state after, until it expires (`validUntilMs`). If in doubt, it changed something: a node that was no longer fresh,
 * or that has an exporter, is judged by the exact instant of its report.
 * @param context with the instant of recording
 */
export function isAgeOnlyChange(
  before: ClusterState,
  after: ClusterState,
  { policy, nowMs }: EvaluationContext,
): boolean {
  if (!isSameExcept(before, after, ageingFields)) return false;
  if (!isSameTrack(before.positionSamples, after.positionSamples)) return false;
  const maxAge = maxAgeMs(before, policy);
  return after.nodes.every((is, at) => {
    const was = before.nodes[at];
    if (was === is) return true;
    if (was === undefined || !isSameBeside(was.companions, is.companions, nowMs - policy.maxAgeMs)) return false;
    // A report that was too old is fresh again, which changes verdicts.
    return isSameExcept(was, is, besideFields) || (isFresh(was, maxAge, nowMs) && isSameEvidence(was, is));
  });
}

function isSameEvidence(was: Observation, is: Observation): boolean {
  return (
    is.exporter === null &&
    isSameExcept(was, is, ageingNodeFields) &&
    isSameHeartbeat(was.liveness, is.liveness) &&
    isSameLag(was.dampedLag, is.dampedLag)
  );
}

/** Whether all fields but the given ones hold the same values. */
function isSameExcept<T extends object>(was: T, is: T, ageing: ReadonlySet<keyof T>): boolean {
  for (const key in is) if (!ageing.has(key) && was[key] !== is[key]) return false;
  return true;
}

/**
 * Whether the companions that answered have only answered again.
 * @param oldestMs when an answer that is too old now was requested, in ms of rolecall's clock
 */
function isSameBeside(was: Observation["companions"], is: Observation["companions"], oldestMs: number): boolean {
  if (was === is) return true;
  if (was.size !== is.size) return false;
  for (const [name, now] of is) {
    const before = was.get(name);
    if (before === now) continue;
    if (before === undefined || !isSameExcept(before, now, ageingCompanionFields)) return false;
    // An answer that was too old is fresh again.
    if (before.sentAtMs <= oldestMs) return false;
  }
  return true;
}

/** A repeated failure of the heartbeat would count again after it had expired. */
function isSameHeartbeat(was: Liveness | null, is: Liveness | null): boolean {
  return was === is || (was !== null && is !== null && was.isAlive && is.isAlive);
}

function isSameLag(was: Observation["dampedLag"], is: Observation["dampedLag"]): boolean {
  return was === is || (was !== null && is !== null && was.bytes === is.bytes && was.timeMs === is.timeMs);
}

/** Whether the leader has not moved: its last sample may only have a later instant. */
function isSameTrack(was: readonly PositionSample[], is: readonly PositionSample[]): boolean {
  return was.at(-1)?.position === is.at(-1)?.position;
}
