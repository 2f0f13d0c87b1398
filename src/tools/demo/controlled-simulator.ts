import { startFaultControl } from "../simulator/control-server.ts";
import { startSimulator, type Simulator, type SimulatorOptions } from "../simulator/simulator.ts";
import { openOnFreePort } from "./usual-ports.ts";

/** A simulated cluster with a port that controls its faults, whichever node is killed. */
export interface ControlledSimulator extends Pick<Simulator, "nodes"> {
  /** The base URL of that port. */
  readonly control: string;
  /** Resolves when all ports are closed. */
  stop(): Promise<void>;
}

/**
 * Starts a simulated cluster. Its faults are controlled on 127.0.0.1, on the port before the first node's or, if that
 * is taken, on a free one.
 * @throws RangeError for invalid options; Error with the code EADDRINUSE if the port of a node is taken
 */
export async function startControlledSimulator(options: SimulatorOptions): Promise<ControlledSimulator> {
  const simulator = await startSimulator(options);
  try {
    const usual = Math.max(0, options.port - 1);
    const control = await openOnFreePort(usual, (port) => startFaultControl([simulator], port));
    const stop = async (): Promise<void> => void (await Promise.all([control.stop(), simulator.stop()]));
    return { nodes: simulator.nodes, control: control.url, stop };
  } catch (error) {
    await simulator.stop();
    throw error;
  }
}
