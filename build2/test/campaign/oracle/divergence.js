import { hasDiverged } from "../world/wal.js";
import { timelineOf, topOf } from "./replicas.js";
import { held, routeOf, slackMs, tell } from "./scene.js";
/** Where a node's timeline ended by any history that rolecall was surely given; infinite where it was given none. */
function knownSwitch({ evidence, world }, timeline, byMs) {
    const rows = world.nodes
        .map(({ name }) => evidence.newestSure(name, "history", byMs)?.document)
        .flatMap((document) => (Array.isArray(document) ? document : []))
        .filter((row) => Array.isArray(row) && typeof row[0] === "number" && typeof row[1] === "number")
        .filter(([ended]) => ended >= timeline);
    return Math.min(...rows.map(([, position]) => position));
}
/** A replica past its timeline's known switch point is refused, and stays so while the leader is silent (rule 6). */
export const divergedIsRefused = (scene, answer) => {
    const { node, status, check, askedMs } = answer;
    if (node === null || routeOf(check) !== "/replica")
        return null;
    const { evidence, profile, troubles, world } = scene;
    const boundMs = 4 * profile.intervalMs + 2 * profile.timeoutMs + 1_000;
    const fromMs = askedMs - boundMs - slackMs(scene, askedMs - boundMs, askedMs);
    if (!hasDiverged(world, world.node(node)) || !troubles.isFree(node, fromMs, "undiverged", "guest"))
        return null;
    // The leader must have been clear once: with lying nodes, rolecall may take another history for the leader's.
    if (scene.seats.some(({ node: { name } }) => !troubles.isFree(name, fromMs - profile.confirmMs, "claim", "view", "guest")))
        return null;
    const leaderAt = world.nodes
        .map(({ name }) => evidence.newestSure(name, "status", fromMs))
        .find((served) => served?.status === 200 && timelineOf(served) === world.timeline);
    const reports = evidence.since(node, "status", evidence.newestSure(node, "status", fromMs)?.arrivedMs ?? Infinity);
    const newest = reports.findLast((served) => evidence.isSure(served));
    if (leaderAt === undefined || newest === undefined)
        return null;
    const isPast = reports
        .filter((served) => evidence.isPossible(served))
        .every((served) => {
        const [timeline, top] = [timelineOf(served), topOf(served)];
        return (typeof timeline === "number" &&
            top !== null &&
            timeline < world.timeline &&
            top > knownSwitch(scene, timeline, fromMs));
    });
    return isPast
        ? held(scene, "diverged", status === 200, `past the known end of its timeline: ${tell(newest, answer)}`)
        : null;
};
//# sourceMappingURL=divergence.js.map