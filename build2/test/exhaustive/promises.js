import { plainCheck } from "../../src/health/check.js";
import { viewAt } from "../../src/health/evidence/cluster-view.js";
import { explain } from "../../src/health/explain/explain.js";
import { nodes, soundRound, status, view } from "./alphabet.js";
const checks = [plainCheck("primary"), plainCheck("leader"), plainCheck("replica"), plainCheck("read-only")];
const [primary, , replica] = checks;
/** Verdicts of all nodes for all checks at an instant, `a primary`, `a leader`, … */
export function verdictsAt({ judge, policy }, { cluster, nowMs }) {
    const at = viewAt(cluster, policy, nowMs);
    return cluster.nodes.flatMap((observation) => checks.map((check) => judge(at, observation, check)));
}
/** What is wrong with a state; empty if nothing is. */
export function brokenIn(subject, instant, verdicts) {
    const { cluster, nowMs } = instant;
    const of = (at) => verdicts.slice(at * checks.length, (at + 1) * checks.length);
    const problems = [];
    for (const [index, check] of checks.slice(0, 2).entries())
        if (cluster.nodes.filter((_, at) => of(at)[index]?.fit).length > 1)
            problems.push(`two nodes for /${check.route}`);
    for (const [at, observation] of cluster.nodes.entries()) {
        const [isPrimary, isLeader, isReplica] = of(at).map(({ fit }) => fit);
        const { name } = observation.node;
        if (isPrimary === true && isReplica === true)
            problems.push(`${name} is primary and replica`);
        if ((isPrimary === true || isLeader === true) && !isClaimant(subject, observation, nowMs))
            problems.push(`${name} leads without a claim that is younger than max_age`);
        problems.push(...disagreements(subject, instant, observation, of(at)));
    }
    return [...problems, ...brokenBefore(subject, instant, verdicts)];
}
/** What is wrong between two states: an unchanged revision promises that verdicts differ by age alone. */
export function brokenBetween(subject, before, after) {
    if (before.revision !== after.cluster.revision || before === after.cluster)
        return [];
    const was = verdictsAt(subject, { cluster: before, nowMs: after.nowMs });
    const is = verdictsAt(subject, after);
    return was.flatMap((verdict, at) => {
        const now = is[at];
        return now === undefined || verdict.validUntilMs <= after.nowMs || isAlike(verdict, now)
            ? []
            : [`revision ${before.revision} has two verdicts: ${textOf(verdict)} and ${textOf(now)}`];
    });
}
/** The most rounds of sound answers that any state may need until both nodes have the right verdicts. */
export const roundsMax = 3;
/**
 * Counts the rounds of sound answers, one each interval, until the leader is the primary and the other a replica.
 * @returns `null` if more than `roundsMax` are needed
 */
export function roundsUntilRight(subject, { cluster, nowMs }, { leader, isLeaderFirst }) {
    let state = cluster;
    let atMs = nowMs;
    for (let round = 1; round <= roundsMax; round += 1) {
        atMs += subject.policy.intervalMs;
        for (const outcome of soundRound(leader, isLeaderFirst)) {
            state = subject.observe(state, outcome(atMs), { policy: subject.policy, nowMs: atMs + 10 });
            atMs += 20;
        }
        const at = viewAt(state, subject.policy, atMs);
        const isRight = state.nodes.every((observation) => subject.judge(at, observation, observation.node.name === leader ? primary : replica).fit);
        if (isRight)
            return round;
    }
    return null;
}
/** Whether the newest answer of a node is a claim, and young enough for a yes (rules 1 and 2). */
function isClaimant({ policy }, { hasLock, sentAtMs, isDown }, nowMs) {
    return hasLock && !isDown && nowMs - sentAtMs < policy.maxAgeMs;
}
/** The explanation must have the verdict, and name the rule of a no. */
function disagreements({ policy }, { cluster, nowMs }, observation, verdicts) {
    const at = viewAt(cluster, policy, nowMs);
    return checks.flatMap((check, index) => {
        const { verdict, decisive } = explain(at, observation, check);
        const judged = verdicts[index];
        const subject = `${observation.node.name} ${check.route}`;
        if (judged === undefined || !isAlike(verdict, judged))
            return [`${subject}: the explanation has another verdict`];
        return verdict.fit === (decisive === null) ? [] : [`${subject}: the explanation names no rule`];
    });
}
/** A verdict must stay the same until it expires. */
function brokenBefore(subject, { cluster, nowMs }, verdicts) {
    const expiries = new Set(verdicts.map(({ validUntilMs }) => validUntilMs).filter((untilMs) => untilMs < Infinity));
    return [...expiries].flatMap((untilMs) => {
        if (untilMs <= nowMs)
            return [`a verdict has expired when it is made: ${untilMs} at ${nowMs}`];
        const later = verdictsAt(subject, { cluster, nowMs: untilMs - 1 });
        return verdicts.flatMap((verdict, at) => {
            const then = later[at];
            return verdict.validUntilMs < untilMs || then === undefined || isAlike(verdict, then)
                ? []
                : [`${textOf(verdict)} becomes ${textOf(then)} ${untilMs - 1 - nowMs} ms later, before it expires`];
        });
    });
}
function isAlike(one, other) {
    return one.fit ? other.fit : !other.fit && one.reason === other.reason;
}
function textOf(verdict) {
    return verdict.fit ? "fit" : verdict.reason;
}
/** A settled cluster, from which a switchover is explored: node `a` leads, and both nodes say so. */
export function settledOutcomes() {
    return [status(nodes[0], true, 1), status(nodes[1], false, 1), view(nodes[0], nodes[0]), view(nodes[1], nodes[0])];
}
//# sourceMappingURL=promises.js.map