import { startFaultControl, type FaultControl } from "../simulator/control-server.ts";
import { startSimulator, type Simulator } from "../simulator/simulator.ts";
import { openOnFreePort } from "./usual-ports.ts";

/** The usual ports of the demo on 127.0.0.1. */
export const usualPorts = { health: 8008, admin: 9108, control: 18_007, nodes: 18_008 } as const;

/** The seconds after which a lock expires in the demo. Patroni's default of 30 s is long to wait for. */
export const demoTtlSeconds = 10;

/** The simulated clusters of a demo, and the port that controls their faults. */
export interface DemoClusters {
  readonly clusters: readonly Simulator[];
  readonly control: FaultControl;
  /** Stops everything. Resolves when all ports are closed. */
  stop(): Promise<void>;
}

/**
 * Starts clusters of three nodes each, `demo`, `demo2` and so on, on the usual ports or on free ones.
 * @param count how many clusters
 * @param health the port that the health listener will take; 0: take any free ports; `null`: the usual port
 */
export async function startDemoClusters(count: number, health: number | null): Promise<DemoClusters> {
  const anyPorts = health === 0;
  const taken = health ?? usualPorts.health;
  const clusters: Simulator[] = [];
  const stopClusters = async (): Promise<void> => void (await Promise.all(clusters.map((cluster) => cluster.stop())));
  try {
    for (let index = 0; index < count; index += 1) {
      const usual = anyPorts ? 0 : usualPorts.nodes + index * 10;
      // The three nodes of a cluster have ports in a row.
      const avoided = [taken, taken - 1, taken - 2];
      clusters.push(await openOnFreePort(usual, (port) => startSimulator(demoCluster(index, port)), avoided));
    }
    const openControl = (port: number): Promise<FaultControl> => startFaultControl(clusters, port);
    const control = await openOnFreePort(anyPorts ? 0 : usualPorts.control, openControl, [taken]);
    const stop = async (): Promise<void> => void (await Promise.all([control.stop(), stopClusters()]));
    return { clusters, control, stop };
  } catch (error) {
    await stopClusters();
    throw error;
  }
}

/** The least times that Patroni accepts for this ttl: ttl >= loop_wait + 2 x retry_timeout, retry_timeout >= 3 s. */
function demoCluster(index: number, port: number): Parameters<typeof startSimulator>[0] {
  return {
    nodes: 3,
    port,
    scope: index === 0 ? "demo" : `demo${String(index + 1)}`,
    ttlMs: demoTtlSeconds * 1000,
    loopWaitMs: 2000,
    retryTimeoutMs: 3000,
  };
}
