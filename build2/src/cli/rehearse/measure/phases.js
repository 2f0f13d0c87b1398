import { serverKey } from "./recording.js";
import { firstChange } from "./track.js";
/** The phases of an outage, in their usual order. */
export const phaseNames = ["demoted", "withdrawn", "promoted", "first_yes", "switched", "first_write"];
/** The phases of a rehearsal, in the order in which they were seen; those that were not seen are last. */
export function phasesOf(recording) {
    const next = (phase) => phase.afterRequestMs ?? Infinity;
    const phases = [demoted(recording), withdrawn(recording), promoted(recording), firstYes(recording)];
    return [...phases, ...writePhases(recording)].toSorted((one, other) => compare(next(one), next(other)));
}
/**
 * The outage: from the last write of the old primary to the first one of the new primary. If no other primary took
 * writes, the longest time between two writes.
 * @returns `null` if no write was acknowledged on one of its sides
 */
export function outageOf(recording) {
    const first = firstNewWrite(recording);
    const old = oldServer(recording);
    if (first === null || old === null)
        return longestGap(recording);
    const before = recording.attempts.filter(({ server, outcome, endedAtMs }) => outcome === "acknowledged" && server !== null && serverKey(server) === old && endedAtMs < first.endedAtMs);
    return outageBetween(Math.max(...before.map(({ endedAtMs }) => endedAtMs)), first.endedAtMs);
}
function longestGap({ attempts, requestedAtMs }) {
    const instants = attempts
        .filter(({ outcome }) => outcome === "acknowledged")
        .map(({ endedAtMs }) => endedAtMs)
        .toSorted((one, other) => one - other);
    const gaps = instants.slice(1).map((atMs, at) => outageBetween(instants[at] ?? atMs, atMs));
    const later = gaps.filter(({ firstWriteAtMs }) => firstWriteAtMs >= requestedAtMs);
    return later.toSorted((one, other) => other.outageMs - one.outageMs)[0] ?? null;
}
function outageBetween(lastWriteAtMs, firstWriteAtMs) {
    return { lastWriteAtMs, firstWriteAtMs, outageMs: firstWriteAtMs - lastWriteAtMs };
}
/** Writes that the old primary acknowledged although they began after another node was promoted. */
export function lateWrites(recording) {
    const at = promoted(recording);
    const old = oldServer(recording);
    if (at.afterRequestMs === null || at.source !== "recovery" || old === null)
        return [];
    const promotedAtMs = recording.requestedAtMs + at.afterRequestMs;
    return recording.attempts.filter(({ server, outcome, startedAtMs }) => outcome === "acknowledged" && server !== null && serverKey(server) === old && startedAtMs > promotedAtMs);
}
function demoted(recording) {
    const { leader, requestedAtMs } = recording;
    const own = recording.nodes.find(({ node }) => node === leader);
    const recovery = own?.recovery ?? [];
    const byDatabase = recovery.length > 0;
    const change = byDatabase
        ? firstChange(recovery, requestedAtMs, (value) => value !== "primary")
        : firstChange(own?.documents ?? [], requestedAtMs, (value) => value !== "writable");
    return seen(recording, change, {
        phase: "demoted",
        node: leader,
        source: byDatabase ? "recovery" : "document",
    });
}
function withdrawn(recording) {
    const own = recording.nodes.find(({ node }) => node === recording.leader);
    const change = firstChange(own?.answers ?? [], recording.requestedAtMs, (value) => value !== "yes");
    return seen(recording, change, { phase: "withdrawn", node: recording.leader, source: "answer" });
}
function promoted(recording) {
    const byDatabase = earliest(recording, ({ recovery }) => recovery, "primary");
    // Without the new primary's own database, its document is the only evidence.
    const found = byDatabase ?? earliest(recording, ({ documents }) => documents, "writable");
    const source = byDatabase === null ? "document" : "recovery";
    return seen(recording, found?.change ?? null, { phase: "promoted", node: found?.node ?? null, source });
}
function firstYes(recording) {
    const found = earliest(recording, ({ answers }) => answers, "yes");
    return seen(recording, found?.change ?? null, { phase: "first_yes", node: found?.node ?? null, source: "answer" });
}
/** When the pool led to the new primary, and when it took a write. */
function writePhases(recording) {
    const { attempts, requestedAtMs, writeIntervalMs } = recording;
    const first = firstNewWrite(recording);
    const address = first?.server?.address ?? null;
    const reached = attempts.filter(({ server, reachedAtMs }) => first !== null &&
        server?.address === address &&
        reachedAtMs !== null &&
        reachedAtMs >= requestedAtMs &&
        serverKey(server) !== oldServer(recording));
    const switchedAtMs = first === null ? null : Math.min(...reached.map(({ reachedAtMs }) => reachedAtMs ?? Infinity));
    const phase = (name, atMs) => ({
        phase: name,
        node: null,
        afterRequestMs: atMs === null ? null : atMs - requestedAtMs,
        resolutionMs: atMs === null ? null : writeIntervalMs,
        source: "write",
    });
    return [phase("switched", switchedAtMs), phase("first_write", first?.endedAtMs ?? null)];
}
/** The first write that another primary than the old one acknowledged. */
function firstNewWrite(recording) {
    const old = oldServer(recording);
    const acknowledged = recording.attempts.filter(({ outcome, server }) => outcome === "acknowledged" && server !== null && serverKey(server) !== old);
    return acknowledged.toSorted((one, other) => one.endedAtMs - other.endedAtMs)[0] ?? null;
}
/** The server that took the last write before the request. */
function oldServer({ attempts, requestedAtMs }) {
    const before = attempts.filter(({ outcome, server, endedAtMs }) => outcome === "acknowledged" && server !== null && endedAtMs < requestedAtMs);
    const server = before.at(-1)?.server;
    return server === undefined || server === null ? null : serverKey(server);
}
/**
 * The first change of any node to a value after the request. The old leader counts only after it lost the value: a
 * database that was killed may start again and lead again.
 */
function earliest({ nodes, leader, requestedAtMs }, segmentsOf, wanted) {
    const found = nodes.flatMap((node) => {
        const segments = segmentsOf(node);
        const loss = node.node === leader ? firstChange(segments, requestedAtMs, (value) => value !== wanted) : null;
        const sinceMs = node.node === leader ? (loss?.fromMs ?? Infinity) : requestedAtMs;
        const change = firstChange(segments, sinceMs, (value) => value === wanted);
        return change === null ? [] : [{ node: node.node, change }];
    });
    return found.toSorted((one, other) => one.change.fromMs - other.change.fromMs)[0] ?? null;
}
function seen({ requestedAtMs }, change, about) {
    return {
        ...about,
        afterRequestMs: change === null ? null : change.fromMs - requestedAtMs,
        resolutionMs: change === null || change.afterMs === null ? null : change.fromMs - change.afterMs,
    };
}
function compare(one, other) {
    return one === other ? 0 : one - other;
}
//# sourceMappingURL=phases.js.map