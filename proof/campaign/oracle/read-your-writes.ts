import type { Said } from "../rolecall/asker.ts";
import type { Served } from "../wire/served.ts";
import { lsnOf } from "../world/documents.ts";
import type { World } from "../world/world.ts";
import { replayedOf, timelineOf, topOf } from "./reports.ts";
import { held, parameterOf, type Rule, routeOf, type Scene, slackMs, tell } from "./scene.ts";

/** A position that a client has written up to, on a timeline. */
export interface Written {
  readonly timeline: number;
  readonly position: number;
}

/** A position as the parameter `min_lsn` has it. */
export function floorText({ timeline, position }: Written): string {
  return `${timeline}@${lsnOf(position)}`;
}

/**
 * A client that requests `min_lsn` reads its own writes: a replica with a yes has replayed them in the history that it
 * reports, and one that has is not refused. A promotion changes neither: the history up to it is shared (rule 4).
 */
export const writesAreRead: Rule = (scene, answer) => {
  const { node, status, check, askedMs, word } = answer;
  const floor = floorOf(parameterOf(check, "min_lsn"));
  if (node === null || floor === null || routeOf(check) !== "/replica") return null;
  const { evidence, profile, troubles, world } = scene;
  // A session knows timelines by their numbers alone.
  if (world.hasRepeated) return null;
  const byMs = askedMs - slackMs(scene, askedMs - profile.maxAgeMs, askedMs);
  const honestFromMs = askedMs - 2 * profile.confirmMs;
  if (world.nodes.some(({ name }) => !troubles.isFree(name, honestFromMs, "claim", "view", "guest"))) return null;
  const newest = evidence.newestSure(node, "status", byMs);
  if (newest === undefined) return null;
  const reports = evidence.since(node, "status", newest.arrivedMs).filter((served) => evidence.isPossible(served));
  const detail = (): string => `${floorText(floor)}: ${tell(newest, answer)}`;
  if (status === 200) return held(scene, "min-lsn", !reports.some((served) => mayHave(world, served, floor)), detail);
  if (word?.reason !== "min_lsn") return null;
  const isInVain =
    reports.every((served) => surelyHas(world, served, floor)) &&
    (floor.timeline === world.timeline ||
      isKnownShared(scene, answer, floor) ||
      isInKnownHistory(scene, answer, floor));
  return held(scene, "min-lsn", isInVain, () => `refused ${detail()}`);
};

function floorOf(text: string | null): Written | null {
  const [, timeline, high, low] = /^(\d+)@([0-9A-F]+)\/([0-9A-F]+)$/.exec(text ?? "") ?? [];
  if (timeline === undefined || high === undefined || low === undefined) return null;
  return { timeline: Number(timeline), position: parseInt(high, 16) * 2 ** 32 + parseInt(low, 16) };
}

/** Whether a report may be of a node that has a position: on its own timeline, or streaming on the newest. */
function mayHave(world: World, served: Served, floor: Written): boolean {
  const reported = timelineOf(served);
  if (typeof reported !== "number") return true;
  const replayed = replayedOf(served);
  return (
    replayed !== null && replayed >= floor.position && [reported, world.timeline].some((one) => has(world, one, floor))
  );
}

/** Whether a report is of a node that has a position, whichever of the two timelines it is on. */
function surelyHas(world: World, served: Served, floor: Written): boolean {
  const reported = timelineOf(served);
  const replayed = replayedOf(served);
  return (
    served.status === 503 &&
    typeof reported === "number" &&
    replayed !== null &&
    replayed >= floor.position &&
    [reported, world.timeline].every((one) => has(world, one, floor))
  );
}

/** Whether a position belongs to the history of a timeline. */
function has(world: World, timeline: number, floor: Written): boolean {
  return timeline >= floor.timeline && floor.position <= world.switchPoint(floor.timeline, timeline);
}

/**
 * Whether rolecall surely knows that the leader's history has a position of the timeline before: it has had the leader
 * of that timeline, and then the new leader as a replica on it, at that position or above.
 */
function isKnownShared(scene: Scene, { askedMs }: Said, floor: Written): boolean {
  const { evidence, profile, world } = scene;
  const { holding } = world;
  const byMs = askedMs - slackMs(scene, askedMs - profile.maxAgeMs, askedMs);
  if (holding === null || floor.timeline !== world.timeline - 1) return false;
  const answers = evidence
    .since(holding.name, "status", askedMs - 60_000)
    .filter((one) => evidence.isSure(one) && (one.doneMs ?? Infinity) <= byMs);
  const first = answers.find((one) => one.status === 200 && timelineOf(one) === world.timeline);
  const before = answers.findLast((one) => timelineOf(one) === floor.timeline);
  if (first === undefined || before === undefined || before.arrivedMs > first.arrivedMs) return false;
  // A leader that crashes and begins a timeline itself may have reported WAL that it then lost.
  if (before.status !== 503) return false;
  // Another node may have begun the timeline, and this one have taken the lock as a replica on it.
  const isFirst = world.nodes.every(
    ({ name }) =>
      name === holding.name ||
      evidence
        .since(name, "status", askedMs - 60_000)
        .every((one) => one.status !== 200 || timelineOf(one) !== world.timeline),
  );
  if (!isFirst) return false;
  // Its last report as a replica counts. A later one that lacks a figure might hide it.
  const between = evidence
    .since(holding.name, "status", before.arrivedMs)
    .filter(({ arrivedMs }) => arrivedMs < first.arrivedMs);
  if (between.some((one) => (topOf(one) ?? -1) < floor.position)) return false;
  return world.nodes.some(
    ({ name }) =>
      name !== holding.name &&
      evidence
        .since(name, "status", before.arrivedMs - 2 * profile.confirmMs)
        .some(
          (one) =>
            evidence.isSure(one) &&
            one.status === 200 &&
            one.arrivedMs < before.arrivedMs &&
            timelineOf(one) === floor.timeline &&
            topOf(one) !== null,
        ),
  );
}

/**
 * Whether rolecall surely has a history with that position. An old history that comes later must not replace it, once
 * rolecall knows that the leader is on a later timeline.
 */
function isInKnownHistory(scene: Scene, { askedMs }: Said, floor: Written): boolean {
  const { evidence, profile, troubles, world } = scene;
  const byMs = askedMs - slackMs(scene, askedMs - profile.maxAgeMs, askedMs);
  const names = world.nodes.map(({ name }) => name);
  // A clone's history may have replaced it permanently.
  if (names.some((name) => !troubles.isFree(name, 0, "guestEver", "moved", "claim"))) return false;
  const histories = names
    .flatMap((name) => evidence.since(name, "history", 0))
    .filter((one) => evidence.isPossible(one) && (one.doneMs ?? Infinity) <= askedMs);
  const later = names
    .flatMap((name) => evidence.since(name, "status", 0))
    .filter((one) => evidence.isSure(one) && one.status === 200 && Number(timelineOf(one)) > floor.timeline);
  const leaderMs = Math.min(...later.map(({ doneMs }) => doneMs ?? Infinity));
  return histories.some((one) => {
    if (!evidence.isSure(one) || !hasPosition(one, floor)) return false;
    const keptMs = Math.max(one.doneMs ?? Infinity, leaderMs) + profile.slackMs;
    const isKept = ({ arrivedMs, doneMs }: Served): boolean =>
      arrivedMs > keptMs || (doneMs ?? Infinity) < one.arrivedMs - profile.slackMs;
    return keptMs <= byMs && histories.every((other) => isKept(other) || hasPosition(other, floor));
  });
}

/** Whether a history has the end of a timeline, at a position or above it. */
function hasPosition({ document }: Served, { timeline, position }: Written): boolean {
  const rows: readonly unknown[] = Array.isArray(document) ? document : [];
  return rows.some((row) => Array.isArray(row) && row[0] === timeline && Number(row[1]) >= position);
}
