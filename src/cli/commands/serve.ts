import { App } from "../../app/app.ts";
import type { Config } from "../../config/model/config.ts";
import { loadConfig } from "../../config/load.ts";
import { ListenError } from "../../http/listener/listener-set.ts";
import { installLastResort } from "../../app/last-resort.ts";
import { hasSupportedInternals } from "../../http/fast-path/tcp-handle.ts";
import { makeLog, type Logger } from "../../events/log/logger.ts";
import { CommandError } from "../framework/command.ts";
import { configFrom, sourcesOf } from "../client/configuration.ts";
import { demoBanner } from "../output/demo-banner.ts";
import { growYoungGeneration } from "../framework/v8-tuning.ts";
import type { CommandContext } from "../framework/command-context.ts";

/**
 * `rolecall serve`: runs until a signal ends it. A wrong configuration or a port that is taken is a finding that ends it at
 * once; after a signal its work is complete.
 */
export async function serve({ args, result, io, print, signal: ending }: CommandContext): Promise<void> {
  const sources = sourcesOf(args, io.env);
  const config = configFrom(sources, result);
  if (config === null) return;
  const signals = listenForSignals();
  // A signal that came before anybody listened here.
  if (ending.aborted) throw new CommandError("RC004", `ended by ${String(ending.reason)}`);
  const log = makeLog(config.log);
  const simulator = await startSimulator(config);
  const source = { file: sources.file, load: () => loadConfig(sources) };
  const app = new App(config, log, { inherited: inheritedSockets(), source });
  const removeLastResort = installLastResort((error) => app.logContained(error));
  try {
    await app.start();
    growYoungGeneration();
    for (const { config: listener, port } of app.listeners)
      log.info({ address: listener.address, port, dialect: listener.dialect }, "listening");
    if (config.fastLane && !hasSupportedInternals)
      log.warn(
        { node: process.version },
        "no fast lane: this Node does not show its TCP handles as 20, 22, 24 and 26 do; checks go the ordinary way",
      );
    if (simulator !== null) print(demoBanner(app.listeners, simulator.nodes));
    const signal = await runUntilSignal({ app, log, signals });
    result.cover("service", "complete", { detail: `ended by ${signal}` });
  } catch (error) {
    throw error instanceof ListenError ? new CommandError("RC107", error.message) : error;
  } finally {
    // Probing goes on after a listener could not be opened, and would keep the process.
    await app.stop({ drains: false });
    await simulator?.stop();
    removeLastResort();
  }
}

interface Running {
  readonly app: App;
  readonly log: Logger;
  readonly signals: Signals;
}

/** Reloads at each SIGHUP, ends at SIGTERM and SIGINT. A person who presses Ctrl-C does not wait for balancers to notice. */
async function runUntilSignal({ app, log, signals }: Running): Promise<Signal> {
  for (;;) {
    const signal = await signals.next();
    if (signal === "SIGHUP") {
      await app.reload();
      continue;
    }
    log.info({ signal }, "stopping");
    await Promise.race([app.stop({ drains: signal === "SIGTERM" }), nextEnd(signals)]);
    return signal;
  }
}

/** A second signal that ends cuts draining short; a reload no longer matters. */
async function nextEnd(signals: Signals): Promise<void> {
  while ((await signals.next()) === "SIGHUP");
}

type Signal = "SIGTERM" | "SIGINT" | "SIGHUP";

interface Signals {
  next(): Promise<Signal>;
}

/** Signals one after the other, none lost while another is worked on. */
function listenForSignals(): Signals {
  const pending: Signal[] = [];
  let wake: ((signal: Signal) => void) | null = null;
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (wake === null) pending.push(signal);
      else wake(signal);
      wake = null;
    });
  }
  return {
    next: () =>
      new Promise((resolve) => {
        const first = pending.shift();
        if (first === undefined) wake = resolve;
        else resolve(first);
      }),
  };
}

/** Sockets that systemd passed: LISTEN_FDS of them from descriptor 3 on, if LISTEN_PID is us (sd_listen_fds(3)). */
function inheritedSockets(): readonly number[] {
  if (Number(process.env["LISTEN_PID"]) !== process.pid) return [];
  const count = Number(process.env["LISTEN_FDS"]);
  return Number.isInteger(count) && count > 0 && count < 1_000 ? Array.from({ length: count }, (_, at) => 3 + at) : [];
}

interface Simulating {
  readonly nodes: readonly { readonly name: string; readonly url: string }[];
  stop(): Promise<void>;
}

/** @returns `null` where none is configured @throws Stop where the simulated nodes cannot have their ports */
async function startSimulator({ simulator }: Config): Promise<Simulating | null> {
  if (simulator === null) return null;
  try {
    return await (await import("../../simulator/simulator.ts")).startSimulator(simulator);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    const ports = `simulator.port ${simulator.port} and the ${simulator.nodes - 1} after it`;
    throw new CommandError(
      "RC107",
      `Cannot start the simulator as ${ports} must be free ports of this machine: ${error.message}`,
    );
  }
}
