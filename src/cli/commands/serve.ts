import { loadConfig } from "../../app/registry/config.ts";
import { ServingProcess } from "../../app/serving-process.ts";
import { noStateHome, openStateHome, stateFileIn, type StateHome } from "../../app/state-home.ts";
import { feedSystemdWatchdog } from "../../app/systemd-watchdog.ts";
import type { ConfigSources, LoadedConfig } from "../../core/config/load.ts";
import type { Config, SimulatorConfig } from "../../core/config/model/config.ts";
import { ListenError, type ListenErrorKind } from "../../core/http/listener/listen-error.ts";
import type { OpenListener } from "../../core/http/listener/listener-set.ts";
import { saveCodeCache } from "../../core/program/cached-bundle.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { loadedFrom, namedByScope, sourcesOf } from "../../app/client/configuration.ts";
import { renderDemoBanner } from "../../tools/demo/demo-banner.ts";
import { collectSignals, type ServiceSignal, type SignalQueue } from "../../core/command/framework/signals.ts";
import { systemdSockets } from "../../core/command/framework/systemd-sockets.ts";
import { growYoungGeneration } from "../../core/command/framework/v8-tuning.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";

/**
 * `rolecall serve`: serves until a signal stops it, which completes its work. Ends at once with a finding if the
 * configuration is not valid, a port is in use or a certificate cannot be used.
 */
export async function serve({ args, result, io, print, signal: ended }: CommandContext): Promise<void> {
  const given = sourcesOf(args, io.env);
  const loaded = loadedFrom(given, result);
  if (loaded === null) return;
  // Before anything that may wait: the watchdog counts from the start of the process.
  feedSystemdWatchdog(
    io.env,
    (problem) => void io.stderr.write(`Cannot tell systemd's watchdog that rolecall runs: ${problem}\n`),
  );
  const signals = collectSignals();
  // A signal may have arrived before this command began to listen for signals.
  if (ended.aborted) throw new CommandError("RC004", `ended by ${String(ended.reason)}`);
  const simulator = await startSimulator(loaded.simulator);
  const placed = await withStateHome(loaded, given);
  const { home } = placed;
  const { config, sources } = await namedByScope(placed, "wait");
  const inheritedSockets = systemdSockets(io.env);
  const { warnings } = loaded;
  const serving = await ServingProcess.create({ config, sources, inheritedSockets, home, warnings });
  // A scope that a seed reported is the name, and the nodes must report it themselves.
  const isNamed = sources.flags.discoveredName !== undefined;
  for (const { name } of config.clusters.filter(({ scope }) => scope === null && !isNamed))
    serving.log.warn({ cluster: name }, "cluster named without its nodes: none reported a scope; --cluster names it");
  try {
    const end = untilEnded(serving, signals);
    const isServing = await Promise.race([serving.start().then(() => true), end.then(() => false)]);
    if (isServing) {
      // Before V8's flags change: they are part of a code cache.
      saveCodeCache();
      growYoungGeneration();
      if (simulator !== null) print(bannerOf(serving.listeners, simulator));
    }
    result.cover("service", "complete", { detail: `ended by ${await end}` });
  } catch (error) {
    throw error instanceof ListenError ? refusalOf(error) : error;
  } finally {
    await simulator?.stop();
  }
}

/** The configuration with the state file that the system gives a service, where the sources say nothing of one. */
async function withStateHome(
  { config, simulator, hasNoStateKey }: Extract<LoadedConfig, { readonly ok: true }>,
  sources: ConfigSources,
): Promise<{ readonly config: Config; readonly sources: ConfigSources; readonly home: StateHome }> {
  if (!hasNoStateKey) return { config, sources, home: noStateHome("state_file is null") };
  if (simulator !== null) return { config, sources, home: noStateHome("the cluster is simulated") };
  const home = await openStateHome(sources.env);
  if (home.kind === "none") return { config, sources, home };
  const placed = { ...sources, defaultStateFile: stateFileIn(home.directory) };
  const loaded = loadConfig(placed);
  // The file may have changed meanwhile: what was loaded first is in force then, without state.
  return loaded.ok ? { config: loaded.config, sources: placed, home } : { config, sources, home };
}

/** The rule of the finding for each kind of failure to open a listener. */
const listenRules: { readonly [kind in ListenErrorKind]: CommandError["rule"] } = {
  address: "RC107",
  files: "RC111",
  settings: "RC020",
};

/** What to do about an address that cannot be used, by the error of the system. */
const listenActions: ReadonlyMap<string, string> = new Map([
  ["EADDRNOTAVAIL", "Choose an address of this machine (ip addr lists them), or 0.0.0.0 for all."],
  ["EACCES", "Choose a port above 1023, or allow lower ones (systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE)."],
]);

function refusalOf({ kind, code, message, listener: { port } }: ListenError): CommandError {
  if (code !== "EADDRINUSE") return new CommandError(listenRules[kind], message, listenActions.get(code) ?? null);
  return new CommandError(
    listenRules[kind],
    message,
    `Stop the process that uses the port (ss -ltnp 'sport = :${port}'), or choose another port. ` +
      "A rolecall that is stopping answers for the time of drain (default 5 s): start again after it.",
  );
}

/**
 * Reloads on SIGHUP, stops on SIGTERM and SIGINT, also during the start or a reload. Only SIGTERM drains: a user who
 * presses Ctrl-C does not want to wait. A second SIGTERM or SIGINT waits for nothing.
 */
async function untilEnded(serving: ServingProcess, signals: SignalQueue): Promise<ServiceSignal> {
  for (;;) {
    const signal = await signals.next();
    if (signal === "SIGHUP") {
      // A reload may take long. What it reports is in the log.
      void serving.reload();
      continue;
    }
    serving.log.info({ signal }, "stopping");
    const second = signals.nextTermination().then(() => serving.stop({ drains: false }));
    await Promise.race([serving.stop({ drains: signal === "SIGTERM" }), second]);
    return signal;
  }
}

interface RunningSimulator {
  readonly nodes: readonly { readonly name: string; readonly url: string }[];
  /** The base URL of the port that controls the faults. */
  readonly control: string;
  stop(): Promise<void>;
}

/**
 * Starts the simulated cluster of the configuration, and the port that controls its faults.
 * @returns `null` if none is configured
 * @throws CommandError (RC107) if the ports of the simulated nodes are in use
 */
async function startSimulator(simulator: SimulatorConfig | null): Promise<RunningSimulator | null> {
  if (simulator === null) return null;
  const { startControlledSimulator } = await import("../../tools/demo/controlled-simulator.ts");
  try {
    return await startControlledSimulator(simulator);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new CommandError(
      "RC107",
      `Cannot start the simulator: simulator.port ${simulator.port} and the ${simulator.nodes - 1} ports after it ` +
        `must be free, got ${error.message}`,
    );
  }
}

/** The addresses of a service that runs a simulated cluster, and where to go on from there. */
function bannerOf(listeners: readonly OpenListener[], { nodes, control }: RunningSimulator): string {
  const urlOf = (dialect: "node" | "admin"): string | null => {
    const found = listeners.find(({ config }) => config.dialect === dialect);
    if (found === undefined) return null;
    const { address } = found.config;
    return `http://${address.includes(":") ? `[${address}]` : address}:${found.port}`;
  };
  const [health, admin] = [urlOf("node"), urlOf("admin")];
  const steps = [
    ...(health === null
      ? []
      : [{ text: ["Check a node as a load balancer does:"], commands: [`curl -I ${health}/nodes/pg1/primary`] }]),
    { text: ["List the faults that you can inject, with a command for each:"], commands: [`curl ${control}`] },
  ];
  return renderDemoBanner({ health, admin, control, nodes }, steps, {
    title: "rolecall monitors a simulated cluster. For a guided tour, run: rolecall demo",
    setup: null,
    log: null,
  });
}
