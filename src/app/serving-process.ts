import type { Config } from "../core/config/model/config.ts";
import type { ConfigSources } from "../core/config/load.ts";
import type { ConfigProblem } from "../core/config/model/problem.ts";
import { loadConfig } from "./registry/config.ts";
import { openLog, type Logger } from "../core/log/logger.ts";
import type { OpenListener } from "../core/http/listener/listener-set.ts";
import { App } from "./app.ts";
import { logRemovedKeys } from "./logs/removed-keys-log.ts";
import { thisMachine } from "./machine/machine.ts";
import type { StateHome } from "./state-home.ts";
import { StateKeeper } from "./state-keeper.ts";
import { containUncaughtExceptions } from "./uncaught-exceptions.ts";

/** What a serving process starts from. */
export interface ServingOptions {
  /** The configuration that was loaded from `sources`. */
  readonly config: Config;
  /** Where reloads read the configuration from. */
  readonly sources: ConfigSources;
  /**
   * File descriptors of listening sockets that were passed to this process; the first one belongs to the first
   * listener.
   */
  readonly inheritedSockets: readonly number[];
  /** Where state is kept that the configuration has no file for; without it nobody looks who else uses a file. */
  readonly home?: StateHome;
  /** What the configuration has of earlier versions. */
  readonly warnings?: readonly ConfigProblem[];
}

/** The serving process: the App with its log, and the handling of uncaught exceptions. */
export class ServingProcess {
  readonly log: Logger;
  readonly #app: App;
  #restoreHandlers: () => void = () => {};

  private constructor(log: Logger, { config, sources, inheritedSockets, home, warnings = [] }: ServingOptions) {
    this.log = log;
    const source = { file: sources.file, load: () => loadConfig(sources) };
    const { setTimer } = thisMachine;
    const state = home === undefined ? {} : { state: new StateKeeper({ log, home, setTimer }) };
    this.#app = new App(config, this.log, { inherited: inheritedSockets, source, ...state });
    logRemovedKeys(log, warnings);
  }

  /** Creates a serving process with its log. It does nothing until `start` is called. */
  static async create(options: ServingOptions): Promise<ServingProcess> {
    return new ServingProcess(await openLog(options.config.log, options.sources.env), options);
  }

  /** The open listeners, with their ports. */
  get listeners(): readonly OpenListener[] {
    return this.#app.listeners;
  }

  /**
   * Starts to probe and opens the listeners. A stop that comes meanwhile ends the start.
   * @throws ListenError if a listener cannot be opened; everything is closed then
   */
  async start(): Promise<void> {
    this.#restoreHandlers = containUncaughtExceptions((error) => this.#app.logContained(error));
    await this.#app.start();
    for (const { config: listener, port } of this.listeners)
      this.log.info({ address: listener.address, port, dialect: listener.dialect }, "listening");
  }

  /**
   * Reloads the configuration, after any reload in progress. If it is not valid, the old one stays in force.
   * @returns why the reload was refused, or `null` if it succeeded
   */
  reload(): Promise<string | null> {
    return this.#app.reload();
  }

  /**
   * Stops, also during the start or a reload. With `drains`, answers go on for the configured time while `/readyz` is
   * 503. A second call ends the work of the process at once.
   */
  async stop({ drains }: { readonly drains: boolean }): Promise<void> {
    await this.#app.stop({ drains });
    this.#restoreHandlers();
    this.#restoreHandlers = () => {};
  }
}
