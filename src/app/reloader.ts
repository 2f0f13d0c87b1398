import { errorMessage } from "../core/cluster/values/error-message.ts";
import type { LoadedConfig } from "../core/config/load.ts";
import type { Config } from "../core/config/model/config.ts";
import { renderProblems } from "../core/config/model/problem.ts";
import type { RefusedConfig } from "../core/events/announced-events.ts";
import type { Logger } from "../core/log/logger.ts";
import type { ConfigOverview } from "../core/http/diagnostics/config-overview.ts";
import type { LifeAction, LifeEvent } from "./life.ts";
import { logRemovedKeys } from "./logs/removed-keys-log.ts";
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
  readonly onReload: (ended: ReloadEnd) => void;
  /** In ms since the epoch. */
  readonly wall: () => number;
}

/** How a reload ended. `abandoned`: rolecall is stopping. */
export type ReloadEnd =
  | { readonly kind: "applied"; readonly clusters: readonly string[]; readonly refusedForMs: number | null }
  | { readonly kind: "refused"; readonly refused: RefusedConfig; readonly loadedAtMs: number }
  | { readonly kind: "abandoned" };

/** The configuration in force, and the one that was refused since. Times in ms since the epoch. */
export interface ConfigInForce {
  readonly loadedAtMs: number;
  /** The last reload, if it was refused, and since when reloads are. */
  readonly refused: (RefusedConfig & { readonly sinceMs: number }) | null;
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
  #inForce: ConfigInForce;

  constructor(context: ReloaderContext) {
    this.#context = context;
    this.#inForce = { loadedAtMs: context.wall(), refused: null };
  }

  /** Which configuration is in force. */
  get inForce(): ConfigInForce {
    return this.#inForce;
  }

  /** Describes the configuration in force. */
  describe(): ConfigOverview {
    const { loadedAtMs, refused } = this.#inForce;
    const file = this.#context.source?.file ?? null;
    const inForce = { file, loaded_at: timeOf(loadedAtMs), refused: null };
    if (refused === null) return inForce;
    const { atMs, problems, first } = refused;
    return { ...inForce, refused: { at: timeOf(atMs), problems, first } };
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
    const { log, apply, onReload, wall } = this.#context;
    let config: Config;
    try {
      const loaded = load();
      if (!loaded.ok) {
        const problems = loaded.problems.map((problem) => renderProblems([problem]));
        this.#refuse(problems, { problems });
        return problems.join("; ");
      }
      ({ config } = loaded);
      logRemovedKeys(log, loaded.warnings);
      await apply(config);
    } catch (error) {
      const message = errorMessage(error);
      if (error instanceof StoppingError) {
        onReload({ kind: "abandoned" });
        log.info("reload abandoned: rolecall is stopping");
      } else this.#refuse([message], { err: error });
      return message;
    }
    const { refused } = this.#inForce;
    this.#inForce = { loadedAtMs: wall(), refused: null };
    const clusters = config.clusters.map(({ name }) => name);
    const refusedForMs = refused === null ? null : wall() - refused.sinceMs;
    onReload({ kind: "applied", clusters, refusedForMs });
    const counts = { clusters: clusters.length, listeners: config.listen.length };
    log.info({ event: "reload_applied", ...counts }, "reloaded");
    return null;
  }

  /** Notes that a configuration was refused. @param problems at least one. @param fields the same for the log */
  #refuse(problems: readonly string[], fields: object): void {
    const { log, onReload, wall } = this.#context;
    const { loadedAtMs, refused: before } = this.#inForce;
    const refused = { atMs: wall(), problems: problems.length, first: problems[0] ?? "" };
    this.#inForce = { loadedAtMs, refused: { ...refused, sinceMs: before?.sinceMs ?? refused.atMs } };
    onReload({ kind: "refused", refused, loadedAtMs });
    log.error({ event: "reload_refused", ...fields }, "reload refused: the old configuration stays in force");
  }
}

/** RFC 3339, UTC. */
function timeOf(wallMs: number): string {
  return new Date(wallMs).toISOString();
}

function waitingReload(): WaitingReload {
  const waiting: { end?: (problem: string | null) => void } = {};
  const ended = new Promise<string | null>((resolve) => {
    waiting.end = resolve;
  });
  return { ended, end: (problem) => waiting.end?.(problem) };
}
