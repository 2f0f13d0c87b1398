import type { Said } from "../rolecall/asker.ts";
import type { Served } from "../wire/served.ts";
import { isListedBy, topOf } from "./reports.ts";
import { held, modelStepMs, routeOf, type Scene, slackMs } from "./scene.ts";

/** The last answer that refused a node as `detached` or `stalled`. */
interface Mark {
  readonly reason: "detached" | "stalled";
  readonly askedMs: number;
}

/**
 * Once rolecall has refused a replica as detached or stalled, it gives no yes before a sign of life may have come: over
 * leaderless moments, changes of the leader and restarts too (rule 5). Unlike the other promise about attachment, this
 * one counts no time: rolecall's own answers are what it is judged by.
 */
export class Marks {
  readonly #marks = new Map<string, Mark>();

  /** What is wrong with a yes, or null. */
  broken(scene: Scene, { node, status, check, askedMs, word }: Said): string | null {
    if (node === null || routeOf(check) !== "/replica") return null;
    const mark = this.#marks.get(node);
    const reason = word?.reason ?? null;
    if (reason === "detached" || reason === "stalled") this.#marks.set(node, { reason, askedMs });
    if (mark === undefined) return null;
    if (mayHaveSign(scene, node, mark, askedMs)) {
      if (this.#marks.get(node) === mark) this.#marks.delete(node);
      return null;
    }
    const agoMs = Math.round(askedMs - mark.askedMs);
    const detail = (): string => `${mark.reason} ${agoMs} ms ago, and no sign of life since`;
    return held(scene, "mark-stays", status === 200, detail);
  }
}

/** Whether rolecall may have taken something for a sign of a node since it refused it. */
function mayHaveSign(scene: Scene, node: string, { reason, askedMs }: Mark, nowMs: number): boolean {
  const { evidence, profile, troubles, world } = scene;
  const slack = slackMs(scene, askedMs - profile.maxAgeMs, nowMs);
  const listsFromMs = askedMs - profile.maxAgeMs - profile.timeoutMs - slack;
  if (world.nodes.some(({ name }) => !troubles.isFree(name, listsFromMs - modelStepMs, "guestEver", "moved")))
    return true;
  const known = evidence
    .since(node, "status", -Infinity)
    .findLast((one) => evidence.wasSure(one) && topOf(one) !== null && (one.doneMs ?? Infinity) <= askedMs - slack);
  if (known === undefined) return true;
  const reports = evidence.since(node, "status", known.arrivedMs).filter((served) => evidence.wasPossible(served));
  let lowest = Infinity;
  for (const served of reports) {
    const top = topOf(served);
    if (served.status === 200) return true;
    if (top === null) continue;
    if (top > lowest || hasReached(scene, node, top, served)) return true;
    lowest = Math.min(lowest, top);
  }
  // A list shows that it is attached, not that its stream brings anything.
  if (reason === "stalled") return false;
  return world.nodes.some(({ name }) => {
    const answers = name === node ? [] : evidence.since(name, "status", listsFromMs);
    return answers.some((served) => evidence.wasPossible(served) && isListedBy(served, node));
  });
}

/** Whether any node may have stated a position as the leader that a report of another has reached. */
function hasReached({ evidence, profile, world }: Scene, node: string, top: number, { arrivedMs }: Served): boolean {
  const fromMs = arrivedMs - profile.maxAgeMs - profile.timeoutMs;
  return world.nodes.some(
    ({ name }) =>
      name !== node &&
      evidence.since(name, "status", fromMs).some((served) => {
        const other = evidence.wasPossible(served) ? topOf(served) : null;
        return other !== null && other <= top;
      }),
  );
}
