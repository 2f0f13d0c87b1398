import { parseArgs } from "node:util";
import { App } from "../app.ts";
import type { Config } from "../config/config.ts";
import { loadConfig, type ConfigSources } from "../config/load.ts";
import { renderProblems } from "../config/problem.ts";
import { DoorError } from "../front/doors.ts";
import { makeLog, type Logger } from "../log.ts";
import { keepYoungSpaceSmall } from "./memory.ts";
import { Reloader } from "../reloader.ts";
import { invitation } from "./invitation.ts";

const usage = `Usage: rolecall serve (--config FILE | --discover URL) [OPTIONS]

Probes clusters in the background and answers health checks from memory.

  --config FILE         the configuration (YAML)
  --discover URL[,URL]  watch one cluster, found through these nodes; needs no file
  --cluster NAME        the name and scope of that cluster
  --listen HOST:PORT    where to answer (default 127.0.0.1:8008)
  --log-level LEVEL     trace, debug, info, warn, error, fatal or silent
  --set PATH=VALUE      one setting, such as probe.interval=2s; may be repeated

Signals: SIGTERM drains and ends, SIGINT ends, SIGHUP reads the configuration again.
Example: rolecall serve --discover http://10.0.0.1:8008
`;

/**
 * `rolecall serve`: runs until a signal ends it.
 * @returns the exit code: 0 after a signal; 2 for a wrong configuration or command line, or a port that is taken
 */
export async function serve(args: readonly string[]): Promise<number> {
  const sources = readArgs(args);
  if (typeof sources === "number") return sources;
  const loaded = loadConfig(sources);
  if (!loaded.ok) {
    process.stderr.write(`${renderProblems(loaded.problems)}\n`);
    return 2;
  }
  const { config } = loaded;
  keepYoungSpaceSmall();
  const log = makeLog(config.log);
  const simulator = await startSimulator(config);
  const app = new App(config, log, inheritedSockets());
  try {
    const reloader = new Reloader(() => reload({ app, sources, log }));
    app.reloadBy(() => reloader.reload(), sources.file);
    const signals = listenForSignals();
    await app.start();
    for (const { config: listener, port } of app.doors)
      log.info({ address: listener.address, port, dialect: listener.dialect }, "listening");
    if (simulator !== null) process.stdout.write(invitation(app.doors, simulator.nodes));
    await runUntilSignal({ app, reloader, log, signals });
    return 0;
  } catch (error) {
    if (!(error instanceof DoorError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  } finally {
    // Probing goes on after a listener could not be opened, and would keep the process.
    await app.stop({ drains: false });
    await simulator?.stop();
  }
}

interface Running {
  readonly app: App;
  readonly reloader: Reloader;
  readonly log: Logger;
  readonly signals: Signals;
}

interface Reloading {
  readonly app: App;
  readonly sources: ConfigSources;
  readonly log: Logger;
}

/** Reloads at each SIGHUP, ends at SIGTERM and SIGINT. A person who presses Ctrl-C does not wait for balancers to notice. */
async function runUntilSignal({ app, reloader, log, signals }: Running): Promise<void> {
  for (;;) {
    const signal = await signals.next();
    if (signal === "SIGHUP") {
      await reloader.reload();
      continue;
    }
    log.info({ signal }, "stopping");
    await Promise.race([app.stop({ drains: signal === "SIGTERM" }), nextEnd(signals)]);
    return;
  }
}

/** A second signal that ends cuts draining short; a reload no longer matters. */
async function nextEnd(signals: Signals): Promise<void> {
  while ((await signals.next()) === "SIGHUP");
}

/** A bad file leaves the old configuration in force, and says so. @returns why nothing was taken, or `null` */
async function reload({ app, sources, log }: Reloading): Promise<string | null> {
  const loaded = loadConfig(sources);
  if (!loaded.ok) {
    app.reloadRefused();
    const problems = loaded.problems.map(({ where, message }) => `${where}: ${message}`);
    log.error({ problems }, "reload refused: the old configuration stays in force");
    return problems.join("; ");
  }
  try {
    await app.reload(loaded.config);
    log.info({ clusters: loaded.config.clusters.length, listeners: loaded.config.listen.length }, "reloaded");
    return null;
  } catch (error) {
    log.error({ err: error }, "reload refused: the old configuration stays in force");
    return error instanceof Error ? error.message : String(error);
  }
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

async function startSimulator({
  simulator,
}: Config): Promise<{ readonly nodes: readonly { readonly name: string; readonly url: string }[]; stop(): Promise<void> } | null> {
  if (simulator === null) return null;
  return (await import("../simulator/simulator.ts")).startSimulator(simulator);
}

function readArgs(args: readonly string[]): ConfigSources | number {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        config: { type: "string" },
        discover: { type: "string", multiple: true },
        cluster: { type: "string" },
        listen: { type: "string", multiple: true },
        "log-level": { type: "string" },
        set: { type: "string", multiple: true },
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.help === true) {
      process.stdout.write(usage);
      return 0;
    }
    const { config, discover, cluster, listen, set } = values;
    return { file: config ?? null, env: process.env, flags: { discover, cluster, listen, logLevel: values["log-level"], set } };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
}
