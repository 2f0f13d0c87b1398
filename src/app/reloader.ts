import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/model/config.ts";
import type { Logger } from "../log/logger.ts";
import type { LifeAction, LifeEvent } from "./life.ts";
import { StoppingError } from "./process-life.ts";

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
  /** Decides whether a requested reload runs now, later, or never. */
  readonly advance: (event: LifeEvent) => LifeAction;
  /**
   * Puts a configuration in force. If it throws, the old one must still be in force.
   * @throws StoppingError if the process has begun to stop
   */
  readonly apply: (config: Config) => Promise<void>;
  readonly onReload: (outcome: "applied" | "refused") => void;
}

/** A reload that is requested and has not begun. */
interface WaitingReload {
  readonly ended: Promise<string | null>;
  readonly end: (problem: string | null) => void;
}

/**
 * Loads the configuration again and applies it, one reload after the other: signals and exporter listeners may request
 * one.
 */
export class Reloader {
  readonly #context: ReloaderContext;
  #waiting: WaitingReload | null = null;

  constructor(context: ReloaderContext) {
    this.#context = context;
  }

  /**
   * Reloads, after the start or the reload in progress. A request that comes while another one waits shares that
   * reload: it has not read anything yet.
   * @returns why the reload was refused, or `null`; a refused reload leaves the old configuration in force
   */
  reload(): Promise<string | null> {
    const { source, advance } = this.#context;
    if (source === null) return Promise.resolve("reload is not configured");
    const action = advance("reload_requested");
    if (action === "load") return this.#run(source);
    if (action === "queue") return (this.#waiting ??= waitingReload()).ended;
    return Promise.resolve(new StoppingError().message);
  }

  /** Runs the reload that waits. To be called when what it waits for has ended. */
  runWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting !== null && this.#context.source !== null) void this.#run(this.#context.source).then(waiting.end);
  }

  /** Refuses the reload that waits. One that runs ends by itself: `apply` abandons what it has prepared. */
  close(): void {
    this.#waiting?.end(new StoppingError().message);
    this.#waiting = null;
  }

  async #run(source: ConfigSource): Promise<string | null> {
    const problem = await this.#reloadOnce(source);
    if (this.#context.advance(problem === null ? "applied" : "reload_failed") === "load") this.runWaiting();
    return problem;
  }

  async #reloadOnce({ load }: ConfigSource): Promise<string | null> {
    const { log, apply, onReload } = this.#context;
    let config: Config;
    try {
      const loaded = load();
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
      if (error instanceof StoppingError) log.info("reload abandoned: rolecall is stopping");
      else log.error({ err: error }, "reload refused: the old configuration stays in force");
      return error instanceof Error ? error.message : String(error);
    }
    onReload("applied");
    log.info({ clusters: config.clusters.length, listeners: config.listen.length }, "reloaded");
    return null;
  }
}

function waitingReload(): WaitingReload {
  const waiting: { end?: (problem: string | null) => void } = {};
  const ended = new Promise<string | null>((resolve) => {
    waiting.end = resolve;
  });
  return { ended, end: (problem) => waiting.end?.(problem) };
}
