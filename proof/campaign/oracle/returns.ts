/** The promise about a leader that was down and returns in place (rule 4, return). */
import { documentOf, type Served } from "../wire/served.ts";
import { knownSwitch } from "./divergence.ts";
import { isHonest, states } from "./hold-evidence.ts";
import { isListedBy, replayedOf, timelineOf, topOf } from "./reports.ts";
import { ago, held, modelStepMs, parameterOf, routeOf, type Rule, type Scene, slackMs } from "./scene.ts";

/** How a leader returned, by what rolecall has surely read. */
interface Returned {
  /** Its last position before, and its first one after. */
  readonly before: Served;
  readonly after: Served;
  /** The newest report between them that shows no running primary. */
  readonly stopped: Served;
}

/**
 * A leader that was down wrote nothing. So once it states a position again, a replica that had all that it wrote is not
 * refused for its lag in time, as long as the time since then is below the limit, and for `attach_window` at most. The
 * lag that the hold kept is up to one interval: the leader may have written after its last answer.
 */
export const returnIsNoLag: Rule = (scene, answer) => {
  const { node, check, askedMs, word } = answer;
  const limit = parameterOf(check, "lag_time");
  if (node === null || limit === null || routeOf(check) !== "/replica") return null;
  const { evidence, profile, troubles, world } = scene;
  const { holding } = world;
  if (holding === null || holding.name === node || troubles.changedMs > askedMs) return null;
  const returned = returnOf(scene, holding.name, askedMs);
  if (returned === null) return null;
  const { before, after, stopped } = returned;
  const slack = slackMs(scene, before.arrivedMs, askedMs) + modelStepMs;
  const last = topOf(before) ?? Infinity;
  const isSoon =
    askedMs - stopped.arrivedMs < Number(limit.replace("ms", "")) - profile.intervalMs - slack &&
    askedMs - after.arrivedMs < profile.attachMs - slack;
  if (!isSoon || holding.sinceMs > before.arrivedMs - profile.confirmMs) return null;
  const calmMs = before.arrivedMs - profile.confirmMs - profile.attachMs;
  if (!isHonest(scene, calmMs) || !troubles.isFree(node, calmMs, "status", "notReplica", "diverged")) return null;
  if (!isListedBy(before, node)) return null;
  const own = evidence.since(node, "status", before.arrivedMs - profile.maxAgeMs);
  // It had replayed the leader's last position before the leader stopped for rolecall, and it has replayed all it received.
  const hasAll = own.some(
    (one) =>
      evidence.isSure(one) &&
      (one.doneMs ?? Infinity) < stopped.arrivedMs - profile.slackMs &&
      (replayedOf(one) ?? -Infinity) >= last,
  );
  if (!hasAll || own.some((one) => replayedOf(one) !== null && replayedOf(one) !== topOf(one))) return null;
  if (own.some((one) => timelineOf(one) !== timelineOf(before) && timelineOf(one) !== timelineOf(after))) return null;
  // A promotion is comparable once its switch point is known.
  const timeline = timelineOf(before);
  const isSame = timeline === timelineOf(after);
  if (!isSame && (typeof timeline !== "number" || !(knownSwitch(scene, timeline, askedMs - slack) < Infinity)))
    return null;
  const isRefused = word?.reason === "lagging" || word?.reason === "lag_unknown";
  return held(
    scene,
    isSame ? "returned" : "returned on the next timeline",
    isRefused,
    () =>
      `${answer.phrase}, but it had all that ${holding.name} wrote, which was down ${ago(answer, stopped.arrivedMs)} ` +
      `and returned ${ago(answer, after.arrivedMs)}`,
  );
};

/** The newest return of a leader; `null` if rolecall may know it otherwise. */
function returnOf({ evidence, profile, world }: Scene, leader: string, askedMs: number): Returned | null {
  const known = evidence
    .since(leader, "status", world.holding?.sinceMs ?? Infinity)
    .filter((one) => evidence.isPossible(one));
  const stoppedAt = known.findLastIndex(isStopped);
  const stopped = known[stoppedAt];
  const before = known.slice(0, Math.max(0, stoppedAt)).findLast(states);
  const after = known.slice(stoppedAt + 1).find(states);
  if (stopped === undefined || before === undefined || after === undefined) return null;
  const between = known.filter((one) => one.arrivedMs > before.arrivedMs && one.arrivedMs < after.arrivedMs);
  // A pause or a lost claim makes it another case.
  const isPlain = between.every((one) => one.status === 200 && documentOf(one)?.["pause"] !== true);
  const isSure = [before, stopped, after].every((one) => evidence.isSure(one));
  if (!isPlain || !isSure || (after.doneMs ?? Infinity) > askedMs - profile.slackMs) return null;
  const [was, is] = [timelineOf(before), timelineOf(after)];
  const isOnNext = typeof was === "number" && is === was + 1;
  if ((was !== is && !isOnNext) || (topOf(after) ?? -1) < (topOf(before) ?? Infinity)) return null;
  return { before, after, stopped };
}

/** Whether an answer shows a database that does not run, or no primary: it writes nothing. */
function isStopped(served: Served): boolean {
  const document = documentOf(served);
  if (document === null || topOf(served) !== null) return false;
  return !["running", "unknown", "stopping"].includes(String(document["state"]));
}
