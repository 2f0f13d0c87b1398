import { serverKey } from "./recording.js";
/** The most backends that are listed of a server. */
const pidsMax = 3;
/**
 * Counts the writes.
 * @param present the numbers of the writes that the table holds, or `null` if it could not be read
 */
export function tallyWrites(attempts, present) {
    const of = (outcome) => attempts.filter((attempt) => attempt.outcome === outcome);
    const [acknowledged, uncertain] = [of("acknowledged"), of("uncertain")];
    return {
        acknowledged: acknowledged.length,
        failed: of("failed").length,
        uncertain: uncertain.length,
        uncertainPresent: present === null ? null : uncertain.filter(({ n }) => present.has(n)).length,
        lost: present === null ? null : acknowledged.filter(({ n }) => !present.has(n)).map(({ n }) => n),
        causes: causesOf(attempts),
        servers: serversOf(attempts),
    };
}
function causesOf(attempts) {
    const counts = new Map();
    for (const { cause } of attempts)
        if (cause !== null)
            counts.set(cause, (counts.get(cause) ?? 0) + 1);
    return [...counts].map(([cause, count]) => ({ cause, count })).toSorted((one, other) => other.count - one.count);
}
function serversOf(attempts) {
    const groups = new Map();
    for (const attempt of attempts) {
        const { server } = attempt;
        if (server === null)
            continue;
        const group = groups.get(serverKey(server)) ?? [];
        group.push({ ...attempt, server });
        groups.set(serverKey(server), group);
    }
    return [...groups.values()].flatMap((group) => {
        const [first] = group;
        if (first === undefined)
            return [];
        const { pid: _, ...server } = first.server;
        const acknowledged = group.filter(({ outcome }) => outcome === "acknowledged").length;
        const pids = [...new Set(group.flatMap((attempt) => attempt.server.pid ?? []))].slice(0, pidsMax);
        return [{ ...server, acknowledged, notAcknowledged: group.length - acknowledged, pids }];
    });
}
//# sourceMappingURL=writes.js.map