/** Visits every state that a sequence of events can reach, shortest sequences first. */
import { createHash } from "node:crypto";
import { withNodes } from "../../src/health/observe/membership.js";
import { neverProbed } from "../../src/cluster/observation.js";
import { emptyCluster } from "../../src/state/clusters.js";
import { nodes } from "./alphabet.js";
import { canonical } from "./canonical.js";
import { brokenBetween, brokenIn, roundsUntilRight, settledOutcomes, verdictsAt } from "./promises.js";
/** Explores breadth first. @returns the levels, and the first violation of a promise */
export function explore(subject, { alphabet, depth, isSettled, report }) {
    let frontier = [{ ...start(subject, isSettled), letter: null, from: null }];
    const seen = new Set(frontier.map(keyOf));
    const levels = [];
    const rounds = new Map();
    for (let level = 1; level <= depth; level += 1) {
        const next = [];
        for (const visit of frontier)
            for (const letter of alphabet) {
                const after = advance(subject, visit, letter);
                const problem = brokenBetween(subject, visit.cluster, after)[0];
                if (problem !== undefined)
                    return { levels, rounds, violation: violationOf(problem, after) };
                const key = keyOf(after);
                if (seen.has(key))
                    continue;
                seen.add(key);
                const broken = brokenIn(subject, after, verdictsAt(subject, after))[0] ?? heal(subject, after, rounds);
                if (broken !== undefined)
                    return { levels, rounds, violation: violationOf(broken, after) };
                if (level < depth)
                    next.push(after);
            }
        const states = seen.size - 1 - levels.reduce((sum, { states: count }) => sum + count, 0);
        const found = { depth: level, states, transitions: frontier.length * alphabet.length };
        levels.push(found);
        report?.(found);
        frontier = next;
    }
    return { levels, rounds, violation: null };
}
/** Every state must become right again, whichever node leads then and whichever answers first. */
function heal(subject, instant, rounds) {
    for (const leader of nodes)
        for (const isLeaderFirst of [true, false]) {
            const needed = roundsUntilRight(subject, instant, { leader, isLeaderFirst });
            if (needed === null)
                return `${leader} leads, and the verdicts stay wrong`;
            rounds.set(needed, (rounds.get(needed) ?? 0) + 1);
        }
    return undefined;
}
/** States are hashed, because millions of them must fit into memory. */
function keyOf({ cluster, nowMs }) {
    return createHash("sha1").update(canonical(cluster, nowMs)).digest("base64");
}
function start(subject, isSettled) {
    const observations = nodes.map((name) => neverProbed({
        name,
        member: name,
        isMemberFixed: false,
        api: `http://${name}:8008`,
        exporter: null,
        database: null,
        isArchiveFed: false,
        isFixed: true,
    }));
    const empty = withNodes(emptyCluster({ name: "demo", scope: "demo", discover: [] }), observations);
    const nowMs = 100_000;
    const outcomes = isSettled ? settledOutcomes() : [];
    const cluster = outcomes.reduce((state, outcome) => subject.observe(state, outcome(nowMs - 10), { policy: subject.policy, nowMs }), empty);
    return { cluster, nowMs };
}
function advance({ observe, policy }, visit, letter) {
    const nowMs = visit.nowMs + letter.advanceMs;
    const outcome = letter.outcome?.(nowMs - 10 - letter.lateMs);
    const cluster = outcome === undefined ? visit.cluster : observe(visit.cluster, outcome, { policy, nowMs });
    return { cluster, nowMs, letter, from: visit };
}
function violationOf(problem, visit) {
    const events = [];
    for (let at = visit; at !== null; at = at.from)
        if (at.letter !== null)
            events.unshift(at.letter.name);
    return { problem, events };
}
//# sourceMappingURL=explore.js.map