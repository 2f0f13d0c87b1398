import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/model/config.ts";
import type { Logger } from "../events/log/logger.ts";

/** Where the configuration can be loaded from again. */
export interface ConfigSource {
  /** The file that it comes from; `null` if the command line gives all of it. */
  readonly file: string | null;
  readonly load: () => LoadedConfig;
}

/** What a reloader depends on. */
export interface ReloaderContext {
  readonly log: Logger;
  /** `null` if the configuration cannot be loaded again. */
  readonly source: ConfigSource | null;
  /** Puts a configuration in force. If it throws, the old one must still be in force. */
  readonly apply: (config: Config) => Promise<void>;
  readonly onReload: (outcome: "applied" | "refused") => void;
}

/**
 * Loads the configuration again and applies it, one reload after the other: signals and exporter listeners may request
 * one.
 */
export class Reloader {
  readonly #context: ReloaderContext;
  #running: Promise<string | null> | null = null;
  #next: Promise<string | null> | null = null;

  constructor(context: ReloaderContext) {
    this.#context = context;
  }

  /**
   * Reloads, after the reload in progress. A request that comes while another one waits shares that reload: it has not
   * read anything yet.
   * @returns why the reload was refused, or `null`; a refused reload leaves the old configuration in force
   */
  reload(): Promise<string | null> {
    if (this.#next !== null) return this.#next;
    if (this.#running === null) return this.#run();
    this.#next = this.#running.then(() => {
      this.#next = null;
      return this.#run();
    });
    return this.#next;
  }

  #run(): Promise<string | null> {
    this.#running = this.#reloadOnce().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #reloadOnce(): Promise<string | null> {
    const { source, log, apply, onReload } = this.#context;
    if (source === null) return "reload is not configured";
    let config: Config;
    try {
      const loaded = source.load();
      if (!loaded.ok) {
        onReload("refused");
        const problems = loaded.problems.map(({ where, message }) => `${where}: ${message}`);
        log.error({ problems }, "reload refused: the old configuration stays in force");
        return problems.join("; ");
      }
      ({ config } = loaded);
      await apply(config);
    } catch (error) {
      onReload("refused");
      log.error({ err: error }, "reload refused: the old configuration stays in force");
      return error instanceof Error ? error.message : String(error);
    }
    onReload("applied");
    log.info({ clusters: config.clusters.length, listeners: config.listen.length }, "reloaded");
    return null;
  }
}
