/** Whether the answers of the nodes and of rolecall agree once nothing changes. */
import { setTimeout as sleep } from "node:timers/promises";
/**
 * Compares every route of every node with ours until all agree, for at most `seconds`.
 * A node that does not answer agrees with a 503 of rolecall, and with the 500 for a cluster without any evidence.
 * @returns the differences of the last round, empty when all agreed: a needless no of ours that stays is a difference
 */
export async function differences({ nodes, rolecall, routes }, seconds) {
    const endMs = performance.now() + seconds * 1000;
    for (;;) {
        const found = [];
        for (const node of nodes)
            for (const route of routes) {
                const theirs = await node.ask(route);
                const ours = await rolecall.ask(node.name, route);
                const agreed = theirs.status === 0 ? [500, 503].includes(ours.status) : ours.status === theirs.status;
                if (!agreed)
                    found.push(`${node.name} ${route}: the node says ${theirs.status}, we say ${ours.status} ${ours.reason}`.trimEnd());
            }
        if (found.length === 0 || performance.now() > endMs)
            return found;
        await sleep(500);
    }
}
//# sourceMappingURL=agreement.js.map