/** The promises about replicas that have WAL which their leader lost when it was set back on its timeline (rule 6 (c)). */
import { documentOf, type Served } from "../wire/served.ts";
import { forkedReplica, type ForkedReplica } from "./forks.ts";
import { isLeading, isListedBy, replayedOf, timelineOf, topOf } from "./reports.ts";
import { ago, held, modelStepMs, type Rule, type Scene, slackMs, tell } from "./scene.ts";

/** A replica that truly has other WAL than the leader that rolecall surely knows, and the instant by which that is so. */
interface Forked extends ForkedReplica {
  /** Since when it has had other WAL, at the latest. */
  readonly sinceMs: number;
}

/**
 * A replica that had replayed more than the first position that its leader states after a new start is refused from the
 * leader's next report on, also once the leader has passed it.
 */
export const setBackIsRefused: Rule = (scene, answer) => {
  const forked = forkedOf(scene, answer);
  if (forked === null) return null;
  const restart = restartOf(scene, forked);
  if (restart === null) return null;
  const report = scene.evidence
    .since(forked.node, "status", restart.beforeMs)
    .findLast((one) => (one.doneMs ?? Infinity) < restart.first.arrivedMs - slackOf(scene) && isReplayed(scene, one));
  if (report === undefined || timelineOf(report) !== timelineOf(restart.first)) return null;
  const isPast = (replayedOf(report) ?? -Infinity) > (topOf(restart.first) ?? Infinity);
  if (!isPast || !scene.troubles.isFree(forked.node, report.arrivedMs, "notReplica")) return null;
  return held(
    scene,
    "set-back",
    answer.status === 200,
    () => `past its leader, which started anew at ${topOf(restart.first)}: ${tell(report, answer)}`,
  );
};

/**
 * A replica that is past a leader which does not move, and that no list shows, is refused after `attach_window`, although
 * nothing happens.
 */
export const aheadOfIdleIsRefused: Rule = (scene, answer) => {
  const forked = forkedOf(scene, answer);
  if (forked === null) return null;
  const { evidence, profile } = scene;
  const windowMs = profile.attachMs + 3 * (profile.intervalMs + profile.timeoutMs) + slackOf(scene);
  const fromMs = forked.byMs - windowMs - slackMs(scene, forked.byMs - windowMs, answer.askedMs);
  if (forked.sinceMs > fromMs) return null;
  const stated = evidence.since(forked.leader, "status", fromMs - profile.maxAgeMs);
  const own = evidence.since(forked.node, "status", fromMs);
  const [first] = stated;
  const at = topOf(first);
  // No time counts while it is silent.
  const gapMs = profile.intervalMs * 1.1 + profile.timeoutMs + slackOf(scene);
  const instants = [fromMs, ...stated.map(({ arrivedMs }) => arrivedMs).filter((atMs) => atMs > fromMs), forked.byMs];
  const isHeard = instants.every((atMs, index) => atMs - (instants[index - 1] ?? atMs) < gapMs);
  const isIdle =
    isHeard &&
    first !== undefined &&
    at !== null &&
    stated.every((one) => evidence.isSure(one) && isLeading(one) && topOf(one) === at && !isListedBy(one, forked.node));
  const isPast =
    own.length > 3 && own.every((one) => isReplayed(scene, one) && (replayedOf(one) ?? -Infinity) > (at ?? Infinity));
  if (!isIdle || !isPast || timelineOf(own[0]) !== timelineOf(first)) return null;
  // A list of a third node may show it too, as long as that is listed itself.
  const others = scene.world.nodes.filter(({ name }) => name !== forked.leader && name !== forked.node);
  if (others.some(({ name }) => evidence.since(name, "status", fromMs).some((one) => isListedBy(one, forked.node))))
    return null;
  return held(
    scene,
    "ahead-of-idle",
    answer.status === 200,
    () => `past its leader, which has stated ${at} since ${ago(answer, first?.arrivedMs ?? 0)}`,
  );
};

function slackOf({ profile }: Scene): number {
  return profile.slackMs + modelStepMs;
}

function forkedOf(scene: Scene, answer: Parameters<Rule>[1]): Forked | null {
  const forked = forkedReplica(scene, answer);
  return forked === null ? null : { ...forked, sinceMs: scene.troubles.last(forked.node, "unforked") + modelStepMs };
}

/** Whether rolecall has surely read from a report what a node had replayed as a replica. */
function isReplayed({ evidence }: Scene, one: Served): boolean {
  return evidence.isSure(one) && one.status === 503 && replayedOf(one) !== null && timelineOf(one) !== undefined;
}

function startOf(served: Served): unknown {
  return documentOf(served)?.["postmaster_start_time"];
}

/** The first position that the leader states with the start that it has now, which a later report surely confirms. */
function restartOf(
  { evidence, world }: Scene,
  { leader, byMs, sinceMs }: Forked,
): { readonly first: Served; readonly beforeMs: number } | null {
  const fromMs = world.holding?.sinceMs ?? Infinity;
  const stated = evidence
    .since(leader, "status", fromMs)
    .filter((one) => isLeading(one) && topOf(one) !== null && evidence.isPossible(one));
  const last = stated.at(-1);
  if (last === undefined) return null;
  const at = stated.findLastIndex((one) => startOf(one) !== startOf(last)) + 1;
  const [before, first] = [stated[at - 1], stated[at]];
  if (before === undefined || first === undefined || first.arrivedMs < sinceMs - 2 * modelStepMs) return null;
  if (!evidence.isSure(before) || !evidence.isSure(first) || timelineOf(before) !== timelineOf(first)) return null;
  const isConfirmed = stated
    .slice(at + 1)
    .some((one) => evidence.isSure(one) && (one.doneMs ?? Infinity) < byMs && one.arrivedMs > (first.doneMs ?? 0));
  // One interval before the leader's last position is enough to have the replica's.
  return isConfirmed ? { first, beforeMs: before.arrivedMs - evidence.timeoutMs } : null;
}
