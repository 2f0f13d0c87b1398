import { ServingProcess } from "../../app/serving-process.ts";
import type { SimulatorConfig } from "../../config/model/simulator-config.ts";
import { ListenError } from "../../http/listener/listen-error.ts";
import { CommandError } from "../framework/command-error.ts";
import { loadedFrom, sourcesOf } from "../client/configuration.ts";
import { demoBanner } from "../output/demo-banner.ts";
import { collectSignals, type ServiceSignal, type SignalQueue } from "../framework/signals.ts";
import { systemdSockets } from "../framework/systemd-sockets.ts";
import { growYoungGeneration } from "../framework/v8-tuning.ts";
import type { CommandContext } from "../framework/command-context.ts";

/**
 * `rolecall serve`: serves until a signal stops it, which completes its work. Ends at once with a finding if the
 * configuration is not valid or a port is in use.
 */
export async function serve({ args, result, io, print, signal: ended }: CommandContext): Promise<void> {
  const sources = sourcesOf(args, io.env);
  const loaded = loadedFrom(sources, result);
  if (loaded === null) return;
  const { config } = loaded;
  const signals = collectSignals();
  // A signal may have arrived before this command began to listen for signals.
  if (ended.aborted) throw new CommandError("RC004", `ended by ${String(ended.reason)}`);
  const simulator = await startSimulator(loaded.simulator);
  const serving = await ServingProcess.create({ config, sources, inheritedSockets: systemdSockets(io.env) });
  try {
    await serving.start();
    growYoungGeneration();
    if (simulator !== null) print(demoBanner(serving.listeners, simulator.nodes));
    const signal = await serveUntilSignal(serving, signals);
    result.cover("service", "complete", { detail: `ended by ${signal}` });
  } catch (error) {
    throw error instanceof ListenError ? new CommandError("RC107", error.message) : error;
  } finally {
    // If a listener could not be opened, probing goes on and would keep the process alive.
    await serving.stop({ drains: false });
    await simulator?.stop();
  }
}

/**
 * Reloads on SIGHUP, stops on SIGTERM and SIGINT. Only SIGTERM drains: a user who presses Ctrl-C does not want to wait.
 */
async function serveUntilSignal(serving: ServingProcess, signals: SignalQueue): Promise<ServiceSignal> {
  for (;;) {
    const signal = await signals.next();
    if (signal === "SIGHUP") {
      await serving.reload();
      continue;
    }
    serving.log.info({ signal }, "stopping");
    // A second SIGTERM or SIGINT ends the drain early.
    await Promise.race([serving.stop({ drains: signal === "SIGTERM" }), signals.nextTermination()]);
    return signal;
  }
}

interface RunningSimulator {
  readonly nodes: readonly { readonly name: string; readonly url: string }[];
  stop(): Promise<void>;
}

/**
 * Starts the simulated cluster of the configuration.
 * @returns `null` if none is configured
 * @throws CommandError (RC107) if the ports of the simulated nodes are in use
 */
async function startSimulator(simulator: SimulatorConfig | null): Promise<RunningSimulator | null> {
  if (simulator === null) return null;
  try {
    return await (await import("../../simulator/simulator.ts")).startSimulator(simulator);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new CommandError(
      "RC107",
      `Cannot start the simulator: simulator.port ${simulator.port} and the ${simulator.nodes - 1} ports after it ` +
        `must be free, got ${error.message}`,
    );
  }
}
