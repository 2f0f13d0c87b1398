import type { Said } from "../rolecall/asker.ts";
import type { Served } from "../wire/served.ts";
import { isForked } from "../world/wal.ts";
import { firstClaim } from "./claims.ts";
import { replayedOf, timelineOf, topOf } from "./reports.ts";
import { held, modelStepMs, routeOf, type Rule, type Scene, slackMs, tell } from "./scene.ts";
import { isContradicted } from "./sole-claim.ts";

/** A replica with other WAL than the leader that rolecall surely knows. */
export interface ForkedReplica {
  readonly node: string;
  readonly leader: string;
  /** What rolecall knew by then counts, in ms. */
  readonly byMs: number;
}

/** The forked replica that an answer of `/replica` is about; `null` if it is about none, or somebody may lie. */
export function forkedReplica(scene: Scene, { node, check, askedMs }: Said): ForkedReplica | null {
  if (node === null || routeOf(check) !== "/replica") return null;
  const { profile, troubles, world } = scene;
  const { holding } = world;
  if (holding === null || holding.name === node || !isForked(world, world.node(node))) return null;
  const byMs = askedMs - slackMs(scene, askedMs - profile.maxAgeMs, askedMs);
  const honestFromMs = byMs - 2 * profile.confirmMs;
  if (world.nodes.some(({ name }) => !troubles.isFree(name, honestFromMs, "claim", "view", "guest"))) return null;
  const claim = firstClaim(scene, holding.name, byMs);
  if (claim === undefined || claim.arrivedMs < holding.sinceMs) return null;
  if (isContradicted(scene, holding.name, claim.arrivedMs)) return null;
  return { node, leader: holding.name, byMs };
}

/**
 * A replica with other WAL on a timeline of the leader's number is refused once rolecall has surely seen it ahead of
 * two rising positions of the leader (rule 6 (c)).
 */
export const forkedIsRefused: Rule = (scene, answer) => {
  const forked = forkedReplica(scene, answer);
  if (forked === null) return null;
  const { node, leader, byMs } = forked;
  const last = scene.evidence.newestSure(node, "status", byMs);
  const report = firstOnTimeline(scene, node, promotedMs(scene, leader));
  if (last === undefined || report === undefined || !wasForkedSince(scene, node, report)) return null;
  const isAhead = risesBelow(scene, { leader, report, last });
  return held(scene, "forked", isAhead && answer.status === 200, () => `ahead of its leader: ${tell(report, answer)}`);
};

/** When rolecall surely knew the leader and its timeline, in ms; `Infinity` if it may not know them yet. */
function promotedMs({ evidence, profile, world }: Scene, leader: string): number {
  const first = evidence
    .since(leader, "status", world.holding?.sinceMs ?? Infinity)
    .find(
      (one) => one.status === 200 && timelineOf(one) === world.timeline && topOf(one) !== null && evidence.isSure(one),
    );
  return (first?.doneMs ?? Infinity) + profile.slackMs;
}

function firstOnTimeline({ evidence, world }: Scene, node: string, fromMs: number): Served | undefined {
  return evidence
    .since(node, "status", fromMs)
    .find((one) => timelineOf(one) === world.timeline && replayedOf(one) !== null && evidence.isSure(one));
}

function wasForkedSince({ troubles }: Scene, node: string, { arrivedMs }: Served): boolean {
  return troubles.isFree(node, arrivedMs - modelStepMs, "unforked");
}

interface Between {
  readonly leader: string;
  readonly report: Served;
  readonly last: Served;
}

/**
 * Whether rolecall has surely confirmed rule 6 (c): the leader stated rising positions, all below that of a report of
 * the replica, and the replica reported after each of them.
 */
function risesBelow({ evidence, profile }: Scene, { leader, report, last }: Between): boolean {
  const top = replayedOf(report) ?? -Infinity;
  const answers = evidence.since(leader, "status", report.arrivedMs - profile.maxAgeMs);
  if (answers.some((one) => evidence.isPossible(one) && (topOf(one) ?? Infinity) >= top)) return false;
  const own = evidence.since(report.node, "status", report.arrivedMs);
  if (own.some((one) => (replayedOf(one) ?? -Infinity) < top)) return false;
  // An answer that only possibly arrived may have been the first position, so three are needed.
  const rounds = [1, 2, 3].reduce<{ readonly fromMs: number; readonly above: number }>(
    ({ fromMs, above }) => {
      const stated = answers.find((one) => isAfter(evidence, one, fromMs) && (topOf(one) ?? 0) > above);
      const reported = own.find((one) => isAfter(evidence, one, (stated?.doneMs ?? Infinity) + profile.slackMs));
      return { fromMs: (reported?.doneMs ?? Infinity) + profile.slackMs, above: topOf(stated) ?? Infinity };
    },
    { fromMs: (report.doneMs ?? Infinity) + profile.slackMs, above: -Infinity },
  );
  return rounds.fromMs <= last.arrivedMs;
}

/** Whether an answer was requested after an instant, and surely arrived. */
function isAfter(evidence: Scene["evidence"], one: Served, fromMs: number): boolean {
  return one.arrivedMs > fromMs && evidence.isSure(one);
}

/**
 * Whether rolecall may still wait for the end of a mark by rule 6 (c): it ends at the latest once the replica has been
 * listed below the marked position for a whole window. The window may start again with every trouble.
 */
export function mayBeMarkedAhead(scene: Scene, { node, phrase, askedMs }: Said): boolean {
  const { evidence, profile, troubles, world } = scene;
  if (node === null || !phrase.includes("own timeline")) return false;
  const { holding } = world;
  const boundMs = profile.attachMs + 4 * profile.intervalMs + profile.timeoutMs;
  const fromMs = askedMs - boundMs - slackMs(scene, askedMs - boundMs, askedMs);
  const isSound =
    holding !== null &&
    holding.sinceMs < fromMs &&
    world.nodes.every(({ name }) => troubles.isFree(name, fromMs, "claim", "view", "guest", "status")) &&
    troubles.isFree(holding.name, fromMs, "notPrimary") &&
    troubles.isFree(node, fromMs, "diverged", "detached");
  const first = evidence.since(node, "status", fromMs).find((one) => evidence.isSure(one));
  return !isSound || first === undefined || first.arrivedMs > askedMs - boundMs;
}
