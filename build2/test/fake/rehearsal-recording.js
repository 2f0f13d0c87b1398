import { Track } from "../../src/cli/rehearse/measure/track.js";
/** The recording of a row: pg1 led before the request, and a write begins every 100 ms. */
export function recordingOf({ nodes, writes }) {
    return {
        requestedAtMs: 1_000,
        leader: "pg1",
        nodes: Object.entries(nodes).map(([node, { answers = [], documents = [], recovery = [] }]) => ({
            node,
            answers: segmentsOf(answers),
            documents: segmentsOf(documents),
            recovery: segmentsOf(recovery),
        })),
        attempts: writes.map(([startedAtMs, endedAtMs, text], at) => {
            const server = serverOf(text);
            const isDone = server !== null && !server.isInRecovery;
            return {
                n: at + 1,
                startedAtMs,
                reachedAtMs: server === null ? null : endedAtMs - 1,
                server,
                endedAtMs,
                outcome: isDone ? "acknowledged" : "failed",
                cause: isDone ? null : "the connection was closed",
            };
        }),
        writeIntervalMs: 100,
    };
}
function segmentsOf(samples) {
    const track = new Track();
    for (const [atMs, value] of samples)
        track.add(atMs, value);
    return track.segments;
}
function serverOf(text) {
    const [address = "", timeline] = text.split("/");
    if (timeline === undefined)
        return null;
    const isInRecovery = timeline === "recovery";
    return { address, pid: 42, isInRecovery, timeline: isInRecovery ? null : Number(timeline) };
}
//# sourceMappingURL=rehearsal-recording.js.map