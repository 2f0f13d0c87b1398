import type { Said } from "../rolecall/asker.ts";
import type { Served } from "../wire/served.ts";
import { fallenBefore, isLeading, isListedBy, replayedOf, timelineOf, topOf } from "./reports.ts";
import { parameterOf, type Scene, slackMs } from "./scene.ts";

/** `lagging` needs a lag above the limit (rule 4): what is wrong with this reason, or null. */
export function laggingInVain(scene: Scene, { node, askedMs, check, word }: Said): string | null {
  const limit = Number(parameterOf(check, "lag") ?? Number.NaN);
  if (node === null || !Number.isFinite(limit) || parameterOf(check, "lag_time") !== null) return null;
  const { evidence, world, profile } = scene;
  const byMs = askedMs - slackMs(scene, askedMs - 1_000, askedMs);
  const from = evidence.newestSure(node, "status", byMs);
  if (from === undefined) return null;
  const reports = evidence.since(node, "status", from.arrivedMs);
  const lowest = Math.min(...reports.map(replayedOf).map((replayed) => replayed ?? -Infinity));
  // Until the leader's position on its timeline is known, the figures of the report before count (rule 4).
  const leader = evidence.newestSure(world.holding?.name ?? "", "status", byMs);
  if (leader?.status !== 200 || timelineOf(leader) !== world.timeline || !isHonest(scene, askedMs)) return null;
  // While it is silent the position is an estimate, from all that was heard since.
  if (leader.arrivedMs < byMs - profile.maxAgeMs) return null;
  // Until a holder is promoted and states its position, that of the last leader counts (rule 4).
  if (!isLeading(leader) || topOf(leader) === null) return null;
  // Past the end of the timeline it still reports, only a sender list distinguishes streaming from divergence.
  if (timelineOf(from) !== world.timeline && !isListedBy(leader, node)) return null;
  // The highest position that any node ever reported: it bounds every lag. A leader that restarted lower is believed,
  // but not what it stated before rolecall accepted its claim (rule 4).
  const sinceMs = askedMs - 60_000 - profile.attachMs;
  const acceptedMs = (world.holding?.sinceMs ?? Infinity) + 2 * (profile.intervalMs + profile.timeoutMs);
  const fallenMs =
    acceptedMs > from.arrivedMs ? -Infinity : fallenBefore(evidence, leader.node, from.arrivedMs - profile.slackMs);
  const tops = world.nodes.flatMap(({ name }) =>
    evidence
      .since(name, "status", name === leader.node ? Math.max(sinceMs, fallenMs) : sinceMs)
      .map((served) => topOf(served) ?? 0),
  );
  const most = Math.max(0, ...tops) - lowest;
  return most <= limit
    ? `lagging ${word?.lag_bytes}, but by all that was ever stated it lags at most ${most} (limit ${limit})`
    : null;
}

/** Whether no node has lied, nor a clone answered, for so long that rolecall knows the leader. */
function isHonest({ world, troubles, profile }: Scene, askedMs: number): boolean {
  const fromMs = askedMs - 2 * profile.confirmMs;
  return world.nodes.every(({ name }) => troubles.isFree(name, fromMs, "claim", "view", "guest"));
}

/** `lag_unknown` needs a lag that rolecall cannot know (rule 4): what is wrong with this reason, or null. */
export function unknownInVain(scene: Scene, answer: Said): string | null {
  const { node, askedMs, check } = answer;
  const { world, troubles, evidence, profile } = scene;
  if (node === null || parameterOf(check, "lag") === null || parameterOf(check, "lag_time") !== null) return null;
  const fromMs = askedMs - 5_000 - slackMs(scene, askedMs - 5_000, askedMs);
  const isClean = world.nodes.every(({ name }) => troubles.isFree(name, fromMs, "status", "cluster", "history"));
  // The position of a holder whose claim a view contradicts does not count, and a view counts for some time.
  if (
    !isClean ||
    !isHonest(scene, askedMs) ||
    !troubles.isFree(node, askedMs - profile.maxAgeMs, "diverged") ||
    world.dcs.isDown
  )
    return null;
  // After a restart rolecall knows no leader while the claim of the only one is disputed.
  if (evidence.isRestarted && troubles.changedMs > fromMs - profile.confirmMs) return null;
  const isFresh = (served: Served | undefined): boolean =>
    (served?.arrivedMs ?? -Infinity) > askedMs - profile.maxAgeMs;
  const own = evidence.newestSure(node, "status", askedMs - profile.slackMs);
  const known = isFresh(own) ? replayedOf(own) : null;
  if (own === undefined || hasOutlivedFigure(scene, own, askedMs)) return null;
  const isLeaderKnown = world.nodes.some(({ name }) => {
    const newest = evidence.newestSure(name, "status", askedMs - 2_000);
    return newest?.status === 200 && isFresh(newest) && hasComparable(scene, name, own);
  });
  return known !== null && isLeaderKnown
    ? "lag_unknown, though it and leaders before have stated positions all along"
    : null;
}

/**
 * Whether a node surely stated a position as the leader that a report can be compared with. One that has stated none
 * since rolecall started has none that could be known, and one that crashed before it stated a position on its new
 * timeline has none for replicas on that timeline. An answer without a timeline is on the last one that a lock holder
 * stated (rule 4).
 */
function hasComparable({ evidence, world }: Scene, leader: string, report: Served): boolean {
  const timeline = timelineOf(report);
  const leading = world.nodes
    .flatMap(({ name }) => [...evidence.since(name, "status", -Infinity)])
    .filter((one) => isLeading(one) && evidence.isPossible(one))
    .sort((one, two) => one.arrivedMs - two.arrivedMs);
  let stated: number | null = null;
  for (const one of leading) {
    const own = timelineOf(one);
    if (typeof own === "number") stated = own;
    const isComparable = typeof timeline !== "number" || (stated ?? timeline) >= timeline;
    if (one.node === leader && isComparable && topOf(one) !== null && evidence.isSure(one)) return true;
  }
  return false;
}

/**
 * Whether a replica has replayed more than its reported timeline has, no list has shown it since, and the figure of the
 * last report that could be compared counts no longer: it is kept for an interval and a timeout (rule 4).
 */
function hasOutlivedFigure(scene: Scene, report: Served, askedMs: number): boolean {
  const { evidence, profile, world } = scene;
  const { node } = report;
  const timeline = timelineOf(report);
  if (typeof timeline !== "number") return false;
  const end = world.switchPoint(timeline, world.timeline);
  const isPast = (one: Served): boolean => timelineOf(one) === timeline && (replayedOf(one) ?? 0) > end;
  const reports = evidence.since(node, "status", -Infinity).filter((one) => evidence.isPossible(one));
  const past = reports.slice(reports.findLastIndex((one) => !isPast(one)) + 1);
  const [first] = past;
  const keptMs = profile.intervalMs + profile.timeoutMs;
  if (first === undefined || first.arrivedMs >= askedMs - keptMs + slackMs(scene, askedMs - keptMs, askedMs))
    return false;
  // Once it is listed it is measured on the leader's timeline, until its position falls.
  const hasFallen = past.some((one, at) => (replayedOf(one) ?? 0) < (replayedOf(past[at - 1]) ?? 0));
  return hasFallen || !wasListed(scene, node, first.arrivedMs);
}

/** Whether rolecall has surely read a list since an instant that shows a node. */
function wasListed({ evidence, world }: Scene, node: string, fromMs: number): boolean {
  return world.nodes.some(({ name }) =>
    evidence.since(name, "status", fromMs).some((one) => isListedBy(one, node) && evidence.isSure(one)),
  );
}
