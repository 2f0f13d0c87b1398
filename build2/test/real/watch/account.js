/** The printed account of a scenario: how long after each change of a node's answer ours followed. */
import { changes, overhangMs } from "./timeline.js";
/**
 * Lines for people: one for each change of a node, its routes together, then the worst yes that outlived the node's.
 */
export function account(scenario, timelines) {
    const groups = new Map();
    for (const change of timelines.flatMap(changes).sort((a, b) => a.atMs - b.atMs)) {
        const key = `${change.node} ${statusText(change.from)} -> ${statusText(change.to)}`;
        const group = groups.get(key);
        if (group === undefined)
            groups.set(key, [change]);
        else
            group.push(change);
    }
    const lines = [...groups].map(([key, group]) => `  ${key}: ${group.map((change) => `${change.route} ${followed(change)}`).join(", ")}`);
    const worst = Math.max(0, ...timelines.map(overhangMs));
    return [
        `${scenario}: ours followed`,
        ...(lines.length === 0 ? ["  nothing changed"] : lines),
        `  longest yes past a node's: ${seconds(worst)}`,
    ].join("\n");
}
function followed({ delayMs }) {
    return delayMs === null ? "(changed again before)" : delayMs === 0 ? "at once" : `after ${seconds(delayMs)}`;
}
function statusText(status) {
    return status === 0 ? "silent" : String(status);
}
function seconds(ms) {
    return `${(ms / 1000).toFixed(1)} s`;
}
//# sourceMappingURL=account.js.map