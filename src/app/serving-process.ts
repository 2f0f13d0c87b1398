import type { Config } from "../config/model/config.ts";
import { loadConfig, type ConfigSources } from "../config/load.ts";
import { makeLog, type Logger } from "../events/logger.ts";
import type { OpenListener } from "../http/listener/listener-set.ts";
import { App } from "./app.ts";
import { installLastResort } from "./last-resort.ts";
import { Reloader } from "./reloader.ts";

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
}

/** The serving process: the App with its log, reloads of its configuration, and the last resort for uncaught errors. */
export class ServingProcess {
  readonly log: Logger;
  readonly #app: App;
  readonly #options: ServingOptions;
  readonly #reloader: Reloader;
  #removeLastResort: () => void = () => {};

  constructor(options: ServingOptions) {
    this.log = makeLog(options.config.log);
    this.#options = options;
    this.#app = new App(options.config, this.log, options.inheritedSockets);
    this.#reloader = new Reloader(() => this.#loadAndApply());
  }

  /** The open listeners, with their ports. */
  get listeners(): readonly OpenListener[] {
    return this.#app.doors;
  }

  /**
   * Starts to probe and opens the listeners. Call `stop` even if this fails: probing may have begun.
   * @throws ListenError if a listener cannot be opened
   */
  async start(): Promise<void> {
    const { sources } = this.#options;
    this.#removeLastResort = installLastResort((error) => this.#app.contained(error));
    this.#app.reloadBy(() => this.reload(), sources.file);
    await this.#app.start();
    for (const { config: listener, port } of this.listeners)
      this.log.info({ address: listener.address, port, dialect: listener.dialect }, "listening");
  }

  /**
   * Reloads the configuration, after any reload in progress. If it is not valid, the old one stays in force.
   * @returns why the reload was refused, or `null` if it succeeded
   */
  reload(): Promise<string | null> {
    return this.#reloader.reload();
  }

  /**
   * Stops. With `drains`, answers go on for the configured time while `/readyz` is 503. A second call without `drains`
   * ends a drain early.
   */
  async stop({ drains }: { readonly drains: boolean }): Promise<void> {
    await this.#app.stop({ drains });
    this.#removeLastResort();
    this.#removeLastResort = () => {};
  }

  async #loadAndApply(): Promise<string | null> {
    const loaded = loadConfig(this.#options.sources);
    if (!loaded.ok) {
      this.#app.reloadRefused();
      const problems = loaded.problems.map(({ where, message }) => `${where}: ${message}`);
      this.log.error({ problems }, "reload refused: the old configuration stays in force");
      return problems.join("; ");
    }
    try {
      await this.#app.reload(loaded.config);
      this.log.info({ clusters: loaded.config.clusters.length, listeners: loaded.config.listen.length }, "reloaded");
      return null;
    } catch (error) {
      this.log.error({ err: error }, "reload refused: the old configuration stays in force");
      return error instanceof Error ? error.message : String(error);
    }
  }
}
