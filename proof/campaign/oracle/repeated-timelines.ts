import { namedLeader, type Served } from "../wire/served.ts";
import { isForked } from "../world/wal.ts";
import { firstClaim } from "./claims.ts";
import { timelineOf, topOf } from "./reports.ts";
import { held, type Rule, routeOf, type Scene, slackMs, tell } from "./scene.ts";
import { isContradicted } from "./sole-claim.ts";

/** How long before an instant nobody may have lied, in ms. */
const honestMs = 30_000;

/**
 * The last leader is refused as a replica if rolecall surely saw the present one begin a timeline with the number of
 * the last one's (rule 6 (d)). After the attach window the mark may have ended.
 */
export const lastLeaderIsRefused: Rule = (scene, answer) => {
  const { node, status, check, askedMs } = answer;
  if (node === null || routeOf(check) !== "/replica") return null;
  const { evidence, profile, world } = scene;
  const { holding } = world;
  if (holding === null || holding.name === node || !isForked(world, world.node(node))) return null;
  const byMs = askedMs - slackMs(scene, askedMs - profile.maxAgeMs, askedMs);
  const begun = firstStatement(scene, { leader: holding.name, last: node, byMs });
  if (begun === undefined || begun.arrivedMs < askedMs - profile.attachMs) return null;
  if (!isAllHonest(scene, begun.arrivedMs - honestMs) || !wasReplicaBefore(scene, begun)) return null;
  const stated = lastStatement(scene, node, begun);
  if (stated === undefined || !evidence.isSure(stated)) return null;
  return held(scene, "last-leader", status === 200, () => `both began one timeline: ${tell(stated, answer)}`);
};

function isAllHonest({ troubles, world }: Scene, fromMs: number): boolean {
  return world.nodes.every(({ name }) => troubles.isFree(name, fromMs, "claim", "view", "guest", "guestEver", "moved"));
}

interface Takeover {
  readonly leader: string;
  readonly last: string;
  readonly byMs: number;
}

/**
 * The first answer by which rolecall surely knows the position of the present leader on its own timeline, if all its
 * answers as the leader state both.
 */
function firstStatement(scene: Scene, { leader, last, byMs }: Takeover): Served | undefined {
  const { evidence, profile, world } = scene;
  const claim = firstClaim(scene, leader, byMs);
  if (claim === undefined || claim.arrivedMs < (world.holding?.sinceMs ?? Infinity)) return undefined;
  if (isContradicted(scene, leader, claim.arrivedMs)) return undefined;
  const claims = evidence.since(leader, "status", claim.arrivedMs).filter((one) => evidence.isPossible(one));
  const states = (one: Served): boolean =>
    one.status === 200 && timelineOf(one) === world.timeline && topOf(one) !== null;
  // Right after it got the lock, it is a replica on the earlier timeline.
  const early = claims.filter((one) => timelineOf(one) !== world.timeline);
  if (claims.length === early.length || !claims.slice(early.length).every(states)) return undefined;
  if (early.some((one) => typeof timelineOf(one) !== "number")) return undefined;
  // The last leader's claim may count until it is too old.
  const rival = evidence.since(last, "status", -Infinity).findLast((one) => one.status === 200);
  const fromMs = (rival?.arrivedMs ?? Infinity) + profile.maxAgeMs + profile.timeoutMs;
  return claims.find(
    (one) => states(one) && evidence.isSure(one) && one.arrivedMs > fromMs && (one.doneMs ?? 0) < byMs,
  );
}

/** Whether rolecall surely knows the leader as a replica on an earlier timeline, and not on the present one. */
function wasReplicaBefore({ evidence, world }: Scene, begun: Served): boolean {
  const reports = evidence
    .since(begun.node, "status", -Infinity)
    .filter((one) => one.arrivedMs < begun.arrivedMs && one.status === 503 && topOf(one) !== null);
  const isEarlier = (one: Served): boolean => {
    const timeline = timelineOf(one);
    return typeof timeline === "number" && timeline < world.timeline;
  };
  return reports.every(isEarlier) && reports.some((one) => evidence.isSure(one));
}

/**
 * The last position that the last leader stated, if rolecall surely accepted its claim: it was the only one, and all
 * views named it, for longer than a claim counts.
 */
function lastStatement({ evidence, profile, world }: Scene, last: string, begun: Served): Served | undefined {
  const stated = evidence
    .since(last, "status", -Infinity)
    .findLast((one) => one.arrivedMs < begun.arrivedMs && one.status === 200 && evidence.isPossible(one));
  if (stated === undefined || timelineOf(stated) !== world.timeline || topOf(stated) === null) return undefined;
  const fromMs = stated.arrivedMs - profile.maxAgeMs - profile.timeoutMs;
  const isBefore = (one: Served): boolean => one.arrivedMs <= stated.arrivedMs;
  const isSole = world.nodes.every(({ name }) =>
    evidence
      .since(name, "status", fromMs)
      .filter(isBefore)
      .every(({ status }) => (status === 200) === (name === last) || status === 0),
  );
  const isNamed = world.nodes.every(({ name }) =>
    evidence
      .since(name, "cluster", fromMs)
      .filter(isBefore)
      .every((view) => view.document === null || namedLeader(view) === last),
  );
  return isSole && isNamed ? stated : undefined;
}
