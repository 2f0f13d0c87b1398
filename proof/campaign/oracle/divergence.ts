import type { Said } from "../rolecall/asker.ts";
import { hasDiverged } from "../world/wal.ts";
import type { Served } from "../wire/served.ts";
import { firstClaim } from "./claims.ts";
import { isLeading, isListedBy, timelineOf, topOf } from "./reports.ts";
import { held, modelStepMs, routeOf, type Rule, type Scene, slackMs, tell } from "./scene.ts";
import { isContradicted } from "./sole-claim.ts";

/** Where a node's timeline ended by any history that rolecall was surely given; infinite where it was given none. */
export function knownSwitch({ evidence, world }: Scene, timeline: number, byMs: number): number {
  const rows = world.nodes
    .map(({ name }) => evidence.newestSure(name, "history", byMs)?.document)
    .flatMap((document) => (Array.isArray(document) ? (document as unknown[]) : []))
    .filter(
      (row): row is [number, number] => Array.isArray(row) && typeof row[0] === "number" && typeof row[1] === "number",
    )
    .filter(([ended]) => ended >= timeline);
  return Math.min(...rows.map(([, position]) => position));
}

/**
 * A replica past its timeline's known switch point is refused once a sender list asked after its report does not show
 * it, and stays so while the leader is silent (rule 6). A list that was asked before the switch point, or the leader's
 * timeline, was known is not one that was asked after a report past it: rolecall keeps no reports but the last.
 */
export const divergedIsRefused: Rule = (scene, answer) => {
  const { node, status, check, askedMs } = answer;
  if (node === null || routeOf(check) !== "/replica") return null;
  const { evidence, profile, troubles, world } = scene;
  if (!hasDiverged(world, world.node(node)) || world.holding === null) return null;
  const byMs = askedMs - slackMs(scene, askedMs - profile.maxAgeMs, askedMs);
  // The leader must have been clear once: with lying nodes, rolecall may take another history for the leader's.
  const honestFromMs = byMs - 2 * profile.confirmMs;
  if (world.nodes.some(({ name }) => !troubles.isFree(name, honestFromMs, "claim", "view", "guest"))) return null;
  const leader = evidence.newestSure(world.holding.name, "status", byMs);
  if (leader?.status !== 200 || timelineOf(leader) !== world.timeline || isListedBy(leader, node)) return null;
  // A view that names nobody, or another node, may cost the leader its claim. Without a leader nothing is measured.
  const claim = firstClaim(scene, world.holding.name, byMs);
  if (claim === undefined) return null;
  if (isContradicted(scene, world.holding.name, Math.max(claim.arrivedMs, byMs - profile.confirmMs))) return null;
  // Without a position its own query failed: then its list is empty, and says nothing.
  if (topOf(leader) === null) return null;
  // Until rolecall knows the leader and its timeline, no report is known to be on a lower one. A lock holder states
  // that timeline once it is promoted.
  const known = evidence.newestSure(world.holding.name, "status", leader.arrivedMs - profile.slackMs);
  if (!isLeading(known) || timelineOf(known) !== world.timeline) return null;
  const report = evidence.newestSure(node, "status", leader.arrivedMs - profile.slackMs);
  if (report === undefined || !troubles.isFree(node, report.arrivedMs - modelStepMs, "undiverged")) return null;
  const isPast = evidence
    .since(node, "status", report.arrivedMs)
    .filter((served) => evidence.isPossible(served))
    .every((served) => isPastKnown(scene, { node, served }, leader.arrivedMs - profile.slackMs));
  const detail = (): string => `past the known end of its timeline: ${tell(report, answer)}`;
  return isPast ? held(scene, "diverged", status === 200, detail) : null;
};

interface Report {
  readonly node: string;
  readonly served: Served;
}

/** Whether a report is on a lower timeline than the leader's, and past the end that rolecall surely knows of. */
function isPastKnown(scene: Scene, { node, served }: Report, byMs: number): boolean {
  const [stated, top] = [timelineOf(served), topOf(served)];
  if (typeof stated !== "number" || top === null || stated >= scene.world.timeline) return false;
  const timeline = Math.max(stated, listedTimeline(scene, node));
  return timeline < scene.world.timeline && top > knownSwitch(scene, timeline, byMs);
}

/**
 * The highest timeline of a leader that has listed a node in the last minutes: the node has been on it, although it may
 * state the one before for some time (rule 4).
 */
function listedTimeline({ evidence, world }: Scene, node: string): number {
  const timelines = world.nodes
    .flatMap(({ name }) => evidence.since(name, "status", -Infinity))
    .filter((served) => served.status === 200 && isListedBy(served, node))
    .map(timelineOf)
    .filter((timeline) => typeof timeline === "number");
  return Math.max(0, ...timelines);
}

/**
 * `diverged` is true of a node past the end of its timeline, and of one that has been on a lower timeline than the
 * leader's, without a sender, for the whole window (rule 6).
 */
export function divergedInVain(scene: Scene, answer: Said): string | null {
  const { evidence, profile, troubles, world } = scene;
  const { node, askedMs } = answer;
  const newest =
    node === null ? undefined : evidence.newestSure(node, "status", askedMs - slackMs(scene, askedMs - 1_000, askedMs));
  if (node === null || newest === undefined || !troubles.isFree(node, askedMs - profile.confirmMs, "diverged"))
    return null;
  const honestFromMs = askedMs - 2 * profile.confirmMs;
  if (world.nodes.some(({ name }) => !troubles.isFree(name, honestFromMs, "claim", "view", "guest"))) return null;
  if (evidence.isRestarted && !isComparable(scene, newest)) return null;
  if (wasBehindFor(scene, node, askedMs) >= profile.attachMs * 0.8) return null;
  const reports = evidence.since(node, "status", newest.arrivedMs).filter((served) => evidence.isPossible(served));
  return reports.every((served) => isOnHistory(scene, served, askedMs))
    ? `diverged, but its history is the leader's: ${tell(newest, answer)}`
    : null;
}

/**
 * For how long all reports of a node have been on timelines that had ended by the time that rolecall had them, in ms. A
 * mark that this time caused lasts until the node is on the leader's timeline, also if it is on a later one than before
 * (rule 6).
 */
function wasBehindFor({ evidence, world }: Scene, node: string, askedMs: number): number {
  const reports = evidence.since(node, "status", -Infinity).filter((served) => timelineOf(served) !== null);
  // Once rolecall knows the leader's next timeline, a report of the one before does not end the mark.
  const endsMark = (served: Served): boolean => endOf(world, timelineOf(served)) >= (served.doneMs ?? Infinity);
  const [first] = reports.slice(reports.findLastIndex(endsMark) + 1);
  return first === undefined ? 0 : askedMs - first.arrivedMs;
}

/** When a timeline ended, in ms; `Infinity` for the present one, -Infinity if the model has no record. */
function endOf(world: Scene["world"], timeline: unknown): number {
  if (timeline === world.timeline) return Infinity;
  const fork = world.forks.find((one) => one.timeline === timeline);
  return fork === undefined ? -Infinity : Date.parse(fork.at) - world.wallMs(0);
}

/**
 * Whether rolecall surely knew the leader's timeline before a report, and where the report's timeline ended. Before
 * that, no report ends a mark that it has saved before a restart. An answer states the leader's timeline with a
 * position only, and only if the lock holder is promoted.
 */
function isComparable(scene: Scene, report: Served): boolean {
  const { evidence, profile, world } = scene;
  const byMs = report.arrivedMs - profile.slackMs;
  const isTimelineKnown = world.nodes.some(({ name }) => {
    const led = evidence.newestSure(name, "status", byMs);
    return isLeading(led) && topOf(led) !== null && timelineOf(led) === world.timeline;
  });
  const timeline = timelineOf(report);
  if (typeof timeline !== "number" || timeline === world.timeline) return isTimelineKnown;
  return isTimelineKnown && knownSwitch(scene, timeline, byMs) < Infinity;
}

/** Whether a report is in the leader's history, and its timeline has not ended a window ago. */
function isOnHistory({ profile, world }: Scene, served: Served, askedMs: number): boolean {
  const [timeline, top] = [timelineOf(served), topOf(served)];
  if (typeof timeline !== "number") return false;
  if (timeline === world.timeline) return true;
  // Successive reports count, so the first of them may be most of a window older than what is counted.
  return (
    askedMs - endOf(world, timeline) < profile.attachMs * 0.8 &&
    top !== null &&
    top <= world.switchPoint(timeline, world.timeline)
  );
}
