import { startFaultControl } from "../../simulator/control-server.js";
import { startSimulator } from "../../simulator/simulator.js";
import { openOnFreePort } from "./usual-ports.js";
/** The usual ports of the demo on 127.0.0.1. */
export const usualPorts = { health: 8008, admin: 9108, control: 18_007, nodes: 18_008 };
/** The seconds after which a lock expires in the demo. Patroni's default of 30 s is long to wait for. */
export const demoTtlSeconds = 10;
/**
 * Starts clusters of three nodes each, `demo`, `demo2` and so on, on the usual ports or on free ones.
 * @param count how many clusters
 * @param anyPorts whether to take any free ports at once
 */
export async function startDemoClusters(count, anyPorts) {
    const clusters = [];
    const stopClusters = async () => void (await Promise.all(clusters.map((cluster) => cluster.stop())));
    try {
        for (let index = 0; index < count; index += 1) {
            const usual = anyPorts ? 0 : usualPorts.nodes + index * 10;
            clusters.push(await openOnFreePort(usual, (port) => startSimulator(demoCluster(index, port))));
        }
        const control = await openOnFreePort(anyPorts ? 0 : usualPorts.control, (port) => startFaultControl(clusters, port));
        const stop = async () => void (await Promise.all([control.stop(), stopClusters()]));
        return { clusters, control, stop };
    }
    catch (error) {
        await stopClusters();
        throw error;
    }
}
/** The least times that Patroni accepts for this ttl: ttl >= loop_wait + 2 x retry_timeout, retry_timeout >= 3 s. */
function demoCluster(index, port) {
    return {
        nodes: 3,
        port,
        scope: index === 0 ? "demo" : `demo${String(index + 1)}`,
        ttlMs: demoTtlSeconds * 1000,
        loopWaitMs: 2000,
        retryTimeoutMs: 3000,
    };
}
//# sourceMappingURL=demo-clusters.js.map