import type { Said } from "../rolecall/asker.ts";
import { documentOf, namedLeader, type Served } from "../wire/served.ts";
import { type Document, statedPosition } from "../world/documents.ts";
import { ago, held, leaderRoute, type Rule, routeOf, type Scene, slackMs, tell } from "./scene.ts";

/** When a node's current claim appeared: the end of its first answer. Infinite without a claim. */
function claimSince(scene: Scene, node: string, byMs: number): number {
  return firstClaim(scene, node, byMs)?.doneMs ?? Infinity;
}

/**
 * The first answer of a node's current claim: the first 200 after its last other answer. A claim ends with its
 * evidence: if the answer before may have been too old when the next one was requested, that one begins a new claim.
 * Undefined without a claim.
 */
export function firstClaim({ evidence, profile }: Scene, node: string, byMs: number): Served | undefined {
  let first: Served | undefined;
  const answers = evidence.since(node, "status", byMs - 90_000);
  for (let at = answers.length - 1; at >= 0; at -= 1) {
    const served = answers[at];
    if (served !== undefined && !evidence.isKnown(served)) break;
    if (served === undefined || served.doneMs === null || served.doneMs > byMs || served.document === null) continue;
    if (served.status === 503) break;
    if (first !== undefined && first.arrivedMs - served.arrivedMs > profile.maxAgeMs - profile.slackMs) break;
    if (served.status === 200) first = served;
  }
  return first;
}

/**
 * Whether a view may contradict a claim: it names nobody, or a node other than the claimant that has not denied holding
 * the lock since.
 */
function accuses(scene: Scene, view: Served, claimant: string): boolean {
  const named = namedLeader(view);
  if (named === null) return !isKeptWithoutLock(scene, claimant, view.arrivedMs);
  if (named === undefined || named === claimant || named === view.node) return false;
  return scene.evidence
    .since(named, "status", view.arrivedMs)
    .every(({ status, document }) => document === null || status !== 503);
}

/** Whether a claimant's document may have said pause since an instant: then a lock that nobody holds proves nothing. */
function isKeptWithoutLock({ evidence, profile }: Scene, claimant: string, fromMs: number): boolean {
  return evidence.mayHaveFlagged(claimant, "pause", fromMs - profile.maxAgeMs);
}

/**
 * The first view since which a witness has continuously contradicted a claim, if its newest view is fresh.
 * Undefined otherwise.
 * @param since when the claim appeared
 */
function accusingFrom(
  scene: Scene,
  witness: string,
  claim: { readonly node: string; readonly since: number },
  byMs: number,
): Served | undefined {
  const { evidence, profile } = scene;
  // rolecall counts a view's age from its request, which the node receives later.
  const freshMs = 3 * profile.clusterMs + profile.timeoutMs - profile.slackMs;
  const views = evidence
    .since(witness, "cluster", claim.since + profile.slackMs)
    .filter((served) => evidence.isPossible(served));
  // After a time without a view that counts, newer views of others may have given the claim back.
  const end = views.findLastIndex(
    (view, at) => !accuses(scene, view, claim.node) || (views[at + 1]?.arrivedMs ?? 0) - view.arrivedMs > freshMs,
  );
  const run = views.slice(end + 1).filter((view) => evidence.isSure(view) && view.isGenuine);
  const newest = run.at(-1);
  if (newest === undefined || newest.arrivedMs <= byMs - freshMs) return undefined;
  return run.find((view, index) => isEffective(scene, run.slice(0, index), view));
}

/** A view that names nobody counts if that witness's views named nobody for at least one interval before it. */
function isEffective({ profile }: Scene, earlier: readonly Served[], view: Served): boolean {
  if (namedLeader(view) !== null) return true;
  const nobody = earlier.slice(earlier.findLastIndex((one) => namedLeader(one) !== null) + 1);
  const [first] = nobody;
  return first !== undefined && first.arrivedMs <= view.arrivedMs - profile.intervalMs - profile.slackMs;
}

/** A claim that its own view, or two other witnesses, disown is lost (rule 2). */
export const lostClaimIsRefused: Rule = (scene, answer) => {
  const { node, status, check, askedMs } = answer;
  if (node === null || routeOf(check) !== leaderRoute(scene)) return null;
  const { profile, evidence, world } = scene;
  // rolecall polls the named node and the claimant at once, at least 250 ms apart from other rounds.
  // Where rounds are 1 s apart, it needs one more.
  const boundMs = profile.timeoutMs + 1_250 + profile.intervalMs;
  const byMs = askedMs - boundMs - slackMs(scene, askedMs - boundMs, askedMs);
  const since = claimSince(scene, node, askedMs);
  if (since > byMs || mayHaveGrace(scene, node, askedMs)) return null;
  const isExcused = evidence
    .since(node, "status", since)
    .some((served) => documentOf(served)?.["failsafe_mode_is_active"] === true || !served.isGenuine);
  if (isExcused) return null;
  const accusing = world.nodes
    .map(({ name }) => accusingFrom(scene, name, { node, since }, askedMs))
    .filter((view) => view !== undefined)
    .filter((view) => (view.doneMs ?? Infinity) < byMs);
  const isOwn = accusing.some((view) => view.node === node);
  if (!isOwn && accusing.length < 2) return null;
  return held(scene, "lost-claim", status === 200, () => {
    const described = accusing.map((view) => `${view.node}: ${tell(view, answer)}`).join("; ");
    return `${isOwn ? "its own view disowns it" : "two views disown it"}: ${described}`;
  });
};

/** Whether a silent node may keep its yes by its exporter: the promises about `survive` apply then. */
function mayHaveGrace({ evidence, profile, surviveMs }: Scene, node: string, askedMs: number): boolean {
  const known = evidence.newestSure(node, "status", askedMs)?.arrivedMs ?? -Infinity;
  // It is down after `fall` failures, of which one an interval counts.
  const downMs = (profile.fall - 1) * profile.intervalMs;
  return surviveMs > 0 && known < askedMs - Math.min(profile.maxAgeMs / 2, downMs);
}

/** A false claim is refused once every honest witness could report it (rule 2, Asking for views). */
export const falseClaimIsRefused: Rule = (scene, answer) => {
  const { node, status, check, askedMs } = answer;
  if (node === null || routeOf(check) !== leaderRoute(scene)) return null;
  const { world, troubles, profile } = scene;
  const { holding } = world;
  if (holding === null || holding.name === node || world.dcs.isPaused) return null;
  const since = claimSince(scene, node, askedMs);
  if (since === Infinity || mayHaveGrace(scene, node, askedMs)) return null;
  const fromMs = askedMs - profile.confirmMs - slackMs(scene, askedMs - profile.confirmMs, askedMs);
  if (holding.sinceMs > fromMs || troubles.changedMs > fromMs || !scene.seats.every(({ guest }) => guest === null))
    return null;
  const isHonest = (name: string): boolean => troubles.isFree(name, fromMs, "cluster", "view", "status");
  const isClaiming = scene.evidence.since(holding.name, "status", fromMs).some(({ status: code }) => code === 200);
  const others = world.nodes.filter(({ name }) => name !== node && name !== holding.name && isHonest(name));
  const isOwnHonest = troubles.isFree(node, fromMs, "cluster", "view");
  // No change triggers another poll, unless both claim: then rolecall polls all nodes every cluster interval.
  if (!isClaiming || !isHonest(holding.name) || !(isOwnHonest || others.length >= 2)) return null;
  // At first a view that lies may win, until the others were asked, and so may the only claim that is known yet.
  const known = scene.evidence.newestSure(holding.name, "status", askedMs - slackMs(scene, askedMs - 1_000, askedMs));
  const isKnown = known?.status === 200 && known.arrivedMs > askedMs - profile.maxAgeMs;
  if (since > fromMs && (others.length < world.nodes.length - 2 || !isKnown)) return null;
  return held(
    scene,
    "false-claim",
    status === 200,
    () => `${holding.name} holds the lock since ${ago(answer, holding.sinceMs)} and all views could say so`,
  );
};

/** The holder is never refused while it and its view are sound and at most one node lies (rule 2). */
export const holderIsFit: Rule = (scene, answer) => {
  const { node, status, check, askedMs } = answer;
  if (node === null || routeOf(check) !== leaderRoute(scene)) return null;
  // Another promise checks whether these are true: silence.
  if (["stale", "down", "unknown", "blind"].some((reason) => answer.phrase.startsWith(reason))) return null;
  if (soundHolder(scene, answer, askedMs) !== node) return null;
  return held(scene, "holder-fit", status !== 200, () => `the sound holder is refused: ${answer.phrase}`);
};

/** The holder of the lock, if rolecall must know it by now; null otherwise. */
export function soundHolder(scene: Scene, answer: Said, atMs: number): string | null {
  const { world, troubles, profile, seats } = scene;
  const { holding } = world;
  if (holding === null || world.holder(atMs) !== holding.name) return null;
  const fromMs = atMs - profile.confirmMs - slackMs(scene, atMs - profile.confirmMs, answer.answeredMs);
  if (
    holding.sinceMs > fromMs ||
    scene.evidence.wasStarved(fromMs, atMs) ||
    !troubles.isFree(holding.name, fromMs, "status", "cluster", "view", "claim", "guest", "notPrimary")
  )
    return null;
  if (seats.some(({ guest }) => guest !== null)) return null;
  const others = world.nodes.filter(({ name }) => name !== holding.name);
  const liars = others.filter(({ name }) => !troubles.isFree(name, fromMs - 2_000, "view", "claim", "guest"));
  if (liars.length === 0) return holding.name;
  const honest = others.filter(({ name }) =>
    troubles.isFree(name, fromMs, "view", "claim", "guest", "cluster", "status"),
  );
  const isMereView = liars.every(({ name }) => troubles.isFree(name, fromMs - 2_000, "claim"));
  return liars.length === 1 && (isMereView || honest.length >= 1) ? holding.name : null;
}

/** `contested` and `superseded` need a rival, or a witness against the claim (rule 2). */
export const disputeIsTrue: Rule = (scene, { node, word, askedMs }) => {
  const reason = word?.reason;
  if (node === null || (reason !== "contested" && reason !== "superseded")) return null;
  const { evidence, profile, troubles, world } = scene;
  const fromMs = askedMs - profile.maxAgeMs - profile.timeoutMs - slackMs(scene, askedMs - profile.maxAgeMs, askedMs);
  // A clone that rolecall polls in place of a node may claim the lock.
  const claimants = world.nodes.filter(
    ({ name }) =>
      !troubles.isFree(name, fromMs, "moved") ||
      evidence.since(name, "status", fromMs).some(({ status }) => status === 200),
  );
  if (reason === "superseded")
    return claimants.some(({ name }) => name === node) ? null : "superseded, but it does not claim the lock";
  return claimants.length >= 2
    ? null
    : `contested, but ${claimants.map(({ name }) => name).join() || "nobody"} claims the lock`;
};

/** `stray_primary` needs a document of the node that says running primary, with a position and without the lock. */
export const strayIsTrue: Rule = (scene, { node, word }) => {
  if (node === null || word?.reason !== "stray_primary") return null;
  const reports = scene.evidence.since(node, "status", -Infinity);
  const isStray = reports.some(
    (one) => one.status === 503 && isRunningPrimary(documentOf(one)) && scene.evidence.isPossible(one),
  );
  return held(scene, "stray", !isStray, () => "stray_primary, but it has never said that it is a running primary");
};

function isRunningPrimary(document: Document | null): boolean {
  return (
    (document?.["role"] === "primary" || document?.["role"] === "master") &&
    document["state"] === "running" &&
    statedPosition(document) !== null
  );
}
