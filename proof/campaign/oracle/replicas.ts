import type { Said } from "../rolecall/asker.ts";
import { documentOf, type Served } from "../wire/served.ts";
import { divergedInVain } from "./divergence.ts";
import { mayBeMarkedAhead } from "./forks.ts";
import { laggingInVain, unknownInVain } from "./lag-reasons.ts";
import { fallenBefore, replayedOf, timelineOf, topOf } from "./reports.ts";
import { ago, held, parameterOf, type Rule, routeOf, type Scene, slackMs, tell } from "./scene.ts";

/**
 * Whether a node surely showed movement between two instants: two successive positions of its own as a replica, the
 * later one above. The positions of another server at its address are of another database, and those of a false claim
 * are invented.
 */
function hasMoved({ evidence }: Scene, node: string, fromMs: number, byMs: number): boolean {
  const tops = evidence
    .since(node, "status", fromMs)
    .filter((served) => served.isGenuine && evidence.isSure(served) && (served.doneMs ?? Infinity) <= byMs)
    .filter((served) => documentOf(served)?.["role"] === "replica")
    .map(topOf)
    .filter((top) => top !== null);
  return tops.some((top, index) => index > 0 && top > (tops[index - 1] ?? Infinity));
}

/** Every reason for a replica's no is true (rules 3 to 7). */
export const accusationIsTrue: Rule = (scene, answer) => {
  const { node, word, askedMs, check } = answer;
  const reason = word?.reason ?? null;
  if (node === null || reason === null || routeOf(check) !== "/replica") return null;
  const { evidence, profile, troubles } = scene;
  const slack = slackMs(scene, askedMs - 1_000, askedMs);
  const newest = evidence.newestSure(node, "status", askedMs - slack);
  switch (reason) {
    case "detached":
    case "stalled":
      return hasMoved(scene, node, askedMs - profile.attachMs * 0.8 + slack, askedMs - slack)
        ? `${reason}, but its position has risen meanwhile: ${tell(newest, answer)}`
        : null;
    case "diverged":
      return mayBeMarkedAhead(scene, answer) ? null : divergedInVain(scene, answer);
    case "lagging":
      return hasSettled(scene, answer) ? laggingInVain(scene, answer) : null;
    case "lag_unknown":
      return hasSettled(scene, answer) ? unknownInVain(scene, answer) : null;
    case "wrong_role":
    case "not_running":
      return evidence.since(node, "status", newest?.arrivedMs ?? Infinity).every(isRunningReplica) &&
        newest !== undefined
        ? `${reason}, but it says: ${tell(newest, answer)}`
        : null;
    case "foreign":
    case "misaddressed":
    case "moved":
    case "no_manager":
    case "not_writable":
    case "demoted":
    case "tag":
    case "noloadbalance":
    case "drained":
    case "held_back":
    case "not_sync":
    case "not_quorum":
    case "not_async":
    case "replication_state":
      return troubles.isFree(node, askedMs - 20_000, "guest") ? `${reason} cannot be true here` : null;
    default:
      return null;
  }
};

function isRunningReplica(served: Served): boolean {
  const document = documentOf(served);
  return (
    document === null || (document["role"] === "replica" && document["state"] === "running" && served.status === 503)
  );
}

export function isCalm({ world, troubles, seats, profile }: Scene, fromMs: number): boolean {
  const { holding } = world;
  if (holding === null || holding.sinceMs > fromMs || troubles.changedMs > fromMs) return false;
  if (!troubles.isFree(holding.name, fromMs, "status", "notPrimary", "guest")) return false;
  return seats.every(({ node: { name } }) =>
    troubles.isFree(name, fromMs - profile.confirmMs, "claim", "guest", "view"),
  );
}

/** Whether a node has been a running replica long enough to be measured: two new polls of it and of its leader. */
function hasSettled(scene: Scene, { node, askedMs }: Said): boolean {
  const { intervalMs, timeoutMs } = scene.profile;
  const fromMs = askedMs - 2 * (intervalMs + timeoutMs) - slackMs(scene, askedMs - 2_000, askedMs);
  return node !== null && scene.troubles.isFree(node, fromMs, "notReplica");
}

/** A yes with a limit in bytes meets it, given everything rolecall certainly knew (rule 4). */
export const lagIsKept: Rule = (scene, answer) => {
  const { node, status, askedMs, check } = answer;
  const limit = Number(parameterOf(check, "lag") ?? Number.NaN);
  if (node === null || routeOf(check) !== "/replica" || !Number.isFinite(limit)) return null;
  const { evidence, world, profile, troubles } = scene;
  const fromMs = askedMs - 2_000;
  const slack = slackMs(scene, fromMs, askedMs);
  if (!isCalm(scene, fromMs - profile.timeoutMs - slack) && !isLeaderMute(scene, askedMs - slack)) return null;
  const own = evidence.newestSure(node, "status", askedMs - slack);
  if (own === undefined) return null;
  const replayed = Math.max(...evidence.since(node, "status", own.arrivedMs).map((served) => replayedOf(served) ?? 0));
  const holder = world.holding?.name ?? "";
  // What other replicas received counts only if the leader was mute then; nothing counts from before it fell, nor of a
  // node that has WAL of its own.
  const isOnLeadersWal = (name: string): boolean => troubles.isFree(name, fromMs - profile.maxAgeMs, "diverged");
  const witnesses = isLeaderMute(scene, own.arrivedMs - profile.slackMs)
    ? world.nodes.map(({ name }) => name).filter((name) => name !== node && isOnLeadersWal(name))
    : [holder];
  const fallenMs = fallenBefore(evidence, holder, own.arrivedMs - profile.slackMs);
  const known = witnesses
    .flatMap((name) => [...evidence.since(name, "status", fromMs - profile.maxAgeMs)])
    .filter((served) => evidence.isSure(served) && (served.doneMs ?? Infinity) < own.arrivedMs - profile.slackMs)
    .filter((served) => timelineOf(served) === timelineOf(own) && served.arrivedMs >= fallenMs);
  const top = Math.max(0, ...known.map((served) => topOf(served) ?? 0));
  if (top - replayed <= limit) return null;
  return held(
    scene,
    "lag",
    status === 200,
    () => `known lag ${top - replayed} above ${limit}; its report: ${tell(own, answer)}`,
  );
};

/** The holder has been silent or without a position for long, and no other node has claimed or changed anything. */
function isLeaderMute({ world, troubles, evidence, profile, seats }: Scene, byMs: number): boolean {
  const { holding } = world;
  const fromMs = byMs - 2_000 - profile.timeoutMs;
  if (
    holding === null ||
    holding.sinceMs > fromMs - profile.confirmMs ||
    troubles.changedMs > fromMs - profile.confirmMs
  )
    return false;
  if (seats.some(({ node: { name } }) => !troubles.isFree(name, fromMs - profile.confirmMs, "claim", "view", "guest")))
    return false;
  return evidence.since(holding.name, "status", fromMs).every((served) => topOf(served) === null);
}

/**
 * A yes with a limit in time meets it: some sample within the limit showed the leader not past the replica (rule 4).
 */
export const timeLagIsKept: Rule = (scene, answer) => {
  const { node, status, askedMs, check } = answer;
  const limit = parameterOf(check, "lag_time");
  if (node === null || limit === null) return null;
  const limitMs = Number(limit.replace("ms", ""));
  const { evidence, world, profile } = scene;
  const marginMs = profile.intervalMs + profile.timeoutMs + slackMs(scene, askedMs - limitMs - 2_000, askedMs);
  const fromMs = askedMs - limitMs - marginMs;
  if (!isCalm(scene, fromMs - profile.maxAgeMs)) return null;
  const holder = world.holding?.name ?? "";
  const reports = evidence.since(node, "status", fromMs - profile.maxAgeMs).filter((served) => served.doneMs !== null);
  if (reports.every((served) => topOf(served) === null) || reports.some(({ status: code }) => code === 200))
    return null;
  const replayed = Math.max(0, ...reports.map((served) => replayedOf(served) ?? 0));
  const samples = evidence
    .since(holder, "status", fromMs - profile.maxAgeMs)
    .filter((served) => topOf(served) !== null);
  const isPast = samples.length > 3 && samples.every((served) => (topOf(served) ?? 0) > replayed);
  const first = samples[0];
  if (!isPast || first === undefined) return null;
  return held(
    scene,
    "lag-time",
    status === 200,
    () => `${holder} was past its replayed ${replayed} since ${ago(answer, first.arrivedMs)}`,
  );
};
