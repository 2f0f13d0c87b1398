/** The events that are explored: every answer that two nodes can give about who leads, each as a constant outcome. */
import { ordinaryReport } from "../../src/cluster/incident/incident.js";
/** The two nodes. */
export const nodes = ["a", "b"];
/** Time passes in intervals, in ms of rolecall's clock. Answers take no time beside it. */
const intervalMs = 1_000;
const beyondMaxAgeMs = 3_000;
/** Reports are constants, so that states can be compared by identity. */
const reports = new Map(nodes.flatMap((node) => [true, false].flatMap((hasLock) => [1, 2, 3].map((timeline) => [
    `${node} ${hasLock} ${timeline}`,
    {
        ...ordinaryReport(node, hasLock, { scope: "demo", system: "1", version: "4.1.4", members: new Map() }),
        timeline,
        ...(hasLock ? { location: 1_000 } : { received: 1_000, replayed: 1_000 }),
    },
]))));
/** The answer to a status probe: a leader on a timeline, or a replica. */
export function status(node, hasLock, timeline) {
    const report = reports.get(`${node} ${hasLock} ${timeline}`);
    if (report === undefined)
        throw new Error(`Cannot report: timeline must be 1, 2 or 3, got ${timeline}`);
    const result = { report, hasLock };
    return (sentAtMs) => ({ kind: "status", cluster: "demo", node, sentAtMs, sentAtWallMs: 0, result });
}
/** A status probe without an answer. */
function silence(node) {
    const result = { failure: { kind: "timeout", detail: "timeout" } };
    return (sentAtMs) => ({ kind: "status", cluster: "demo", node, sentAtMs, sentAtWallMs: 0, result });
}
/** The cluster document of a node. */
export function view(witness, leader) {
    const cluster = { scope: "demo", members: [], leader, leaderApi: null, leaderTimeline: null };
    return (sentAtMs) => {
        const served = { status: 200, body: "", source: witness, sentAtMs };
        return { kind: "document", cluster: "demo", answer: { name: "cluster", served, cluster } };
    };
}
/** A request for the cluster document without an answer. */
function noView(node) {
    const failure = { kind: "timeout", detail: "timeout" };
    return (sentAtMs) => ({ kind: "view_failure", cluster: "demo", node, sentAtMs, failure });
}
function at(name, outcome, lateMs = 0) {
    return { name, advanceMs: 0, lateMs, outcome };
}
const oneInterval = { name: "an interval passes", advanceMs: intervalMs, lateMs: 0, outcome: null };
const maxAge = { name: "max_age passes", advanceMs: beyondMaxAgeMs, lateMs: 0, outcome: null };
const leads = (node, timeline) => at(`${node} leads on timeline ${timeline}`, status(node, true, timeline));
const leadsLate = (node) => at(`${node} leads on timeline 1, late`, status(node, true, 1), intervalMs);
const follows = (node) => at(`${node} follows`, status(node, false, 1));
const isSilent = (node) => at(`${node} does not answer`, silence(node));
const names = (witness, leader) => at(`${witness} names ${leader ?? "nobody"}`, view(witness, leader));
const givesNoView = (node) => at(`${node} gives no view`, noView(node));
/** The alphabets. All events in one alphabet would leave room for few events in a row. */
export const alphabets = new Map([
    [
        "claims, silence and views",
        [
            leads("a", 1),
            leads("b", 2),
            ...nodes.flatMap((node) => [follows(node), isSilent(node), names(node, "a"), names(node, "b")]),
            oneInterval,
        ],
    ],
    [
        "views of every kind",
        [
            leads("a", 1),
            leads("b", 1),
            ...nodes.flatMap((node) => [names(node, "a"), names(node, "b"), names(node, null), givesNoView(node)]),
            oneInterval,
        ],
    ],
    [
        "late answers and old evidence",
        [
            leads("a", 1),
            leads("b", 2),
            ...nodes.flatMap((node) => [leadsLate(node), follows(node), names(node, "b")]),
            oneInterval,
            maxAge,
        ],
    ],
]);
/**
 * One round of answers of a sound cluster, in which one node leads on timeline 3 and the other follows.
 * @param isLeaderFirst whether the leader answers before the replica
 */
export function soundRound(leader, isLeaderFirst) {
    const replica = leader === "a" ? "b" : "a";
    const statuses = [status(leader, true, 3), status(replica, false, 3)];
    const views = [view(leader, leader), view(replica, leader)];
    return isLeaderFirst ? [...statuses, ...views] : [...statuses.toReversed(), ...views.toReversed()];
}
//# sourceMappingURL=alphabet.js.map