import { adviceFor } from "./measure/advice.js";
import { lateWrites, outageOf, phasesOf } from "./measure/phases.js";
import { tallyWrites } from "./measure/writes.js";
/** Derives phases, outage, counts and advice from what was measured. */
export function summarizeRehearsal(plan, rehearsed) {
    const { recording, present, probeIntervalMs } = rehearsed;
    const tally = tallyWrites(recording.attempts, present);
    const phases = phasesOf(recording);
    const late = lateWrites(recording).length;
    const readOnlyWrites = tally.servers
        .filter(({ isInRecovery }) => isInRecovery)
        .reduce((sum, { notAcknowledged }) => sum + notAcknowledged, 0);
    const advice = adviceFor({
        phases,
        isKill: plan.options.cause.kind === "kill",
        writeIntervalMs: recording.writeIntervalMs,
        probeIntervalMs,
        readOnlyWrites,
        lateWrites: late,
        hasNodeSamples: plan.pool.nodeTargets.size > 0,
    });
    return { phases, outage: outageOf(recording), tally, lateWrites: late, advice, names: namesOf(plan) };
}
function namesOf({ cluster, pool, leader }) {
    const known = cluster.nodes.flatMap(({ node, database }) => (database === null ? [] : [[database, node]]));
    return new Map([[pool.server.address, leader], ...known]);
}
//# sourceMappingURL=summary.js.map