import type { Profile } from "../profile.ts";
import { documentOf } from "../wire/served.ts";
import { mayBeOutvoted } from "./reports.ts";
import { allowsLeader, type Rule, routeOf, slackMs, tell } from "./scene.ts";

/** The routes on which a primary may keep its yes without an answer (guard `survive`). */
const routesWithGrace = ["/primary", "/read-only-sync", "/read-only-quorum"];

/** A yes needs an answer of the node itself to a request younger than max_age (rule 1). */
export const yesIsFresh: Rule = (scene, answer) => {
  const { node, status, askedMs } = answer;
  if (node === null || status !== 200) return null;
  const fromMs = askedMs - scene.profile.maxAgeMs;
  const own = scene.evidence.since(node, "status", fromMs - slackMs(scene, fromMs, askedMs));
  // Another promise says how long a primary without an API keeps its yes.
  if (scene.surviveMs > 0 && routesWithGrace.includes(routeOf(answer.check))) return null;
  // A clone at the node's own address is indistinguishable from it. A clone elsewhere has no evidence here.
  if (own.some((served) => scene.evidence.isPossible(served))) return null;
  const last = scene.evidence.newestSure(node, "status", askedMs);
  return `yes without an answer of its own within max_age; the last: ${tell(last, answer)}`;
};

/** A definite answer takes effect immediately: no yes after the node's own no (rules 3 and 8). */
export const yesAgrees: Rule = (scene, answer) => {
  const { node, status, askedMs, check } = answer;
  if (node === null || status !== 200) return null;
  const route = routeOf(check);
  // An answer that came in a stall is read after it.
  const byMs = askedMs - slackMs(scene, askedMs - scene.profile.maxAgeMs, askedMs);
  const known = scene.evidence.newestSure(node, "status", byMs);
  if (known === undefined || !known.path.startsWith("/leader")) return null;
  const answers = scene.evidence
    .since(node, "status", known.arrivedMs)
    .filter((served) => served === known || scene.evidence.isPossible(served));
  const allowing = answers.filter((served) => {
    const document = documentOf(served);
    if (route === "/primary" || route === "/standby-leader")
      return served.status === 200 && allowsLeader(document, route);
    return (
      route !== "/replica" ||
      document?.["state"] !== "running" ||
      document["role"] === "replica" ||
      document["role"] === undefined
    );
  });
  return allowing.length > 0 ? null : `yes after the node's own no: ${tell(known, answer)}`;
};

/** `stale`, `down`, `unknown` and `blind` are true (rules 1, 8, 9). */
export const silenceIsTrue: Rule = (scene, answer) => {
  const { node, askedMs, answeredMs, word } = answer;
  const reason = word?.reason ?? answer.headers.get("x-rolecall-reason") ?? null;
  if (node === null || reason === null || !["stale", "down", "unknown", "blind"].includes(reason)) return null;
  const { evidence, profile, world } = scene;
  // A node whose address changes starts afresh. Another promise (moved) checks whether the change is right.
  const hasGuests = world.nodes.some(
    ({ name }) => !scene.troubles.isFree(name, askedMs - profile.confirmMs, "guestEver", "moved"),
  );
  if ((scene.isDiscovered && hasGuests) || (reason === "unknown" && mayBeOutvoted(scene, node, askedMs))) return null;
  const slack = slackMs(scene, askedMs - profile.maxAgeMs - profile.timeoutMs, answeredMs);
  const isKnown = (name: string): boolean => {
    const newest = evidence.newestSure(name, "status", askedMs - slack);
    return newest !== undefined && newest.arrivedMs > answeredMs - profile.maxAgeMs + slack;
  };
  if (reason === "blind") {
    const seen = world.nodes.find(({ name }) => isKnown(name) && stands(scene, name, askedMs - profile.maxAgeMs));
    return seen === undefined
      ? null
      : `blind, but ${seen.name} has answered: ${tell(evidence.newestSure(seen.name, "status", askedMs), answer)}`;
  }
  if (!stands(scene, node, askedMs - profile.maxAgeMs - 2_000)) return null;
  // The next report is due an interval and a timeout later.
  // Any further delay by the machine is not rolecall's fault.
  const spareMs = profile.maxAgeMs - profile.intervalMs - profile.timeoutMs;
  if (scene.stalls.within(askedMs - profile.maxAgeMs - profile.timeoutMs, answeredMs) > spareMs / 2) {
    scene.stalls.excused += 1;
    return null;
  }
  if ((reason === "stale" || reason === "unknown") && isKnown(node)) {
    return `${reason}, but it has answered: ${tell(evidence.newestSure(node, "status", askedMs), answer)}`;
  }
  const newest = evidence.newestSure(node, "status", askedMs - slack);
  if (reason === "down" && newest !== undefined && newest.arrivedMs > askedMs - failingMs(profile) + slack) {
    return `down, but ${profile.fall} failures in a row cannot have followed its answer: ${tell(newest, answer)}`;
  }
  const fromMs = askedMs - profile.maxAgeMs - profile.intervalMs * 4 - profile.timeoutMs - slack;
  const isPrompt = evidence.answeredAll(node, "status", fromMs, askedMs) && scene.troubles.last(node, "guest") < fromMs;
  const isMoving = scene.seats.some(({ node: { name }, isListening }) => name === node && isListening);
  // The node was polled, answered every request in time and refused none: it must not become stale (rule 8).
  const count = evidence.since(node, "status", fromMs).length;
  if (isPrompt && isMoving && count >= 3 && evidence.since(node, "status", fromMs).every(({ isBroken }) => !isBroken)) {
    return `${reason}, but it has answered all ${count} requests of the last ${Math.round(askedMs - fromMs)} ms in time`;
  }
  return null;
};

/**
 * The least time between the first and the last of as many failures in a row as make a node `down` (rule 8), in ms: at
 * most one counts per interval. The schedule may be a tenth early, and the failure before it a tenth late.
 */
export function failingMs({ fall, intervalMs }: Profile): number {
  return (fall - 1) * 0.8 * intervalMs;
}

/** Whether a node kept its address: no other node answered there, and connections were not refused. */
function stands({ troubles, seats }: Parameters<Rule>[0], node: string, fromMs: number): boolean {
  const seat = seats.find(({ node: { name } }) => name === node);
  return seat !== undefined && seat.isListening && troubles.isFree(node, fromMs, "guest", "refused");
}

/**
 * A clone's member list moves no node, the one at whose address the clone answers included (rule 10), unless clones
 * answered in place of more nodes than there were sound witnesses. They are then indistinguishable.
 */
export const addressIsKept: Rule = ({ troubles }, { node, askedMs }) => {
  if (node === null || troubles.isFree(node, askedMs - 500, "moved") || troubles.isMoveAmbiguous) return null;
  return "rolecall asks a clone in its place, although as many sound witnesses were heard as clones";
};
