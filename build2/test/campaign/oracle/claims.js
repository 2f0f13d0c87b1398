import { documentOf, namedLeader } from "../wire/evidence.js";
import { ago, held, routeOf, slackMs, tell } from "./scene.js";
/**
 * When a node's current claim appeared: the first 200 after its last non-200 answer. Infinite without a claim.
 */
function claimSince({ evidence }, node, byMs) {
    const answers = evidence
        .since(node, "status", byMs - 90_000)
        .filter(({ doneMs }) => doneMs !== null && doneMs <= byMs);
    const end = answers.findLastIndex(({ status, document }) => document !== null && status === 503);
    return answers.slice(end + 1).find(({ status, document }) => status === 200 && document !== null)?.doneMs ?? Infinity;
}
/** Whether a view names a node other than the claimant that has not denied holding the lock since. */
function accuses(scene, view, claimant) {
    const named = namedLeader(view);
    if (named === undefined || named === null || named === claimant || named === view.node)
        return false;
    return scene.evidence
        .since(named, "status", view.arrivedMs)
        .every(({ status, document }) => document === null || status !== 503);
}
/**
 * The first view since which a witness has continuously contradicted a claim, if its newest view is fresh.
 * Undefined otherwise.
 * @param since when the claim appeared
 */
function accusingFrom(scene, witness, claim, byMs) {
    const { evidence, profile } = scene;
    const freshMs = 3 * profile.clusterMs + profile.timeoutMs;
    const views = evidence
        .since(witness, "cluster", claim.since + profile.slackMs)
        .filter((served) => evidence.isPossible(served));
    const end = views.findLastIndex((view) => !accuses(scene, view, claim.node));
    const run = views.slice(end + 1).filter((view) => evidence.isSure(view) && view.isGenuine);
    const newest = run.at(-1);
    return newest !== undefined && newest.arrivedMs > byMs - freshMs ? run[0] : undefined;
}
/** A claim that its own view, or two other witnesses, disown is lost (rule 2). */
export const lostClaimIsRefused = (scene, answer) => {
    const { node, status, check, askedMs } = answer;
    if (node === null || routeOf(check) !== "/primary")
        return null;
    const { profile, evidence, world } = scene;
    // rolecall polls the named node and the claimant at once, at least 250 ms apart from other rounds.
    // Where rounds are 1 s apart, it needs one more.
    const boundMs = profile.timeoutMs + 1_250 + profile.intervalMs;
    const byMs = askedMs - boundMs - slackMs(scene, askedMs - boundMs, askedMs);
    const since = claimSince(scene, node, askedMs);
    if (since > byMs)
        return null;
    const isExcused = evidence
        .since(node, "status", since)
        .some((served) => documentOf(served)?.["failsafe_mode_is_active"] === true || !served.isGenuine);
    if (isExcused)
        return null;
    const accusing = world.nodes
        .map(({ name }) => accusingFrom(scene, name, { node, since }, askedMs))
        .filter((view) => view !== undefined)
        .filter((view) => (view.doneMs ?? Infinity) < byMs);
    const described = accusing.map((view) => `${view.node}: ${tell(view, answer)}`).join("; ");
    const isOwn = accusing.some((view) => view.node === node);
    if (!isOwn && accusing.length < 2)
        return null;
    return held(scene, "lost-claim", status === 200, `${isOwn ? "its own view disowns it" : "two views disown it"}: ${described}`);
};
/** A false claim is refused once every honest witness could report it (rule 2, Asking for views). */
export const falseClaimIsRefused = (scene, answer) => {
    const { node, status, check, askedMs } = answer;
    if (node === null || routeOf(check) !== "/primary" || claimSince(scene, node, askedMs) === Infinity)
        return null;
    const { world, troubles, profile } = scene;
    const { holding } = world;
    if (holding === null || holding.name === node || world.dcs.isPaused)
        return null;
    const fromMs = askedMs - profile.confirmMs - slackMs(scene, askedMs - profile.confirmMs, askedMs);
    if (holding.sinceMs > fromMs || troubles.changedMs > fromMs || !scene.seats.every(({ guest }) => guest === null))
        return null;
    const isHonest = (name) => troubles.isFree(name, fromMs, "cluster", "view", "status");
    const isClaiming = scene.evidence.since(holding.name, "status", fromMs).some(({ status: code }) => code === 200);
    const others = world.nodes.filter(({ name }) => name !== node && name !== holding.name && isHonest(name));
    const isOwnHonest = troubles.isFree(node, fromMs, "cluster", "view");
    // No change triggers another poll, unless both claim: then rolecall polls all nodes every cluster interval.
    if (!isClaiming || !isHonest(holding.name) || !(isOwnHonest || others.length >= 2))
        return null;
    return held(scene, "false-claim", status === 200, `${holding.name} holds the lock since ${ago(answer, holding.sinceMs)} and all views could say so`);
};
/** The holder is never refused while it and its view are sound and at most one node lies (rule 2). */
export const holderIsFit = (scene, answer) => {
    const { node, status, check, askedMs } = answer;
    if (node === null || routeOf(check) !== "/primary")
        return null;
    // Another promise checks whether these are true: silence.
    if (["stale", "down", "unknown", "blind"].some((reason) => answer.phrase.startsWith(reason)))
        return null;
    if (soundHolder(scene, answer, askedMs) !== node)
        return null;
    return held(scene, "holder-fit", status !== 200, `the sound holder is refused: ${answer.phrase}`);
};
/** The holder of the lock, if rolecall must know it by now; null otherwise. */
export function soundHolder(scene, answer, atMs) {
    const { world, troubles, profile, seats } = scene;
    const { holding } = world;
    if (holding === null || world.holder(atMs) !== holding.name)
        return null;
    const fromMs = atMs - profile.confirmMs - slackMs(scene, atMs - profile.confirmMs, answer.answeredMs);
    if (holding.sinceMs > fromMs ||
        !troubles.isFree(holding.name, fromMs, "status", "cluster", "view", "claim", "guest", "notPrimary"))
        return null;
    if (seats.some(({ guest }) => guest !== null))
        return null;
    const others = world.nodes.filter(({ name }) => name !== holding.name);
    const liars = others.filter(({ name }) => !troubles.isFree(name, fromMs - 2_000, "view", "claim", "guest"));
    if (liars.length === 0)
        return holding.name;
    const honest = others.filter(({ name }) => troubles.isFree(name, fromMs, "view", "claim", "guest", "cluster", "status"));
    const isMereView = liars.every(({ name }) => troubles.isFree(name, fromMs - 2_000, "claim"));
    return liars.length === 1 && (isMereView || honest.length >= 1) ? holding.name : null;
}
/** `contested` and `superseded` need a rival, or a witness against the claim (rule 2). */
export const disputeIsTrue = (scene, { node, word, askedMs }) => {
    const reason = word?.reason;
    if (node === null || (reason !== "contested" && reason !== "superseded"))
        return null;
    const { evidence, profile, world } = scene;
    const fromMs = askedMs - profile.maxAgeMs - profile.timeoutMs - slackMs(scene, askedMs - profile.maxAgeMs, askedMs);
    const claimants = world.nodes.filter(({ name }) => evidence.since(name, "status", fromMs).some(({ status }) => status === 200));
    if (reason === "superseded")
        return claimants.some(({ name }) => name === node) ? null : "superseded, but it does not claim the lock";
    return claimants.length >= 2
        ? null
        : `contested, but ${claimants.map(({ name }) => name).join() || "nobody"} claims the lock`;
};
//# sourceMappingURL=claims.js.map