import type { Scope } from "../../core/feature/scope.ts";
import { errorMessage } from "../../core/cluster/values/error-message.ts";
import type { Logger } from "../../core/log/logger.ts";
import { PgbouncerConsole } from "../../core/balancing/pgbouncer/console.ts";
import { readDatabases } from "../../core/balancing/pgbouncer/documents.ts";
import { TargetResumer } from "./hands/resume-target.ts";
import { type PauseTarget, pauseName } from "./machine/plan.ts";
import type { IntentFile } from "./intent/intent-file.ts";
import type { FinishIntent, IntendedPause, PauseIntent } from "./intent/pause-intent.ts";

/** What it depends on. */
export interface LeftPausesContext {
  readonly log: Logger;
  readonly intents: IntentFile;
  /** Ends the repetitions. */
  readonly scope: Pick<Scope, "wait" | "signal">;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /** The databases of all poolers, with their clusters. */
  readonly databases: () => readonly (IntendedPause & { readonly cluster: string })[];
  /** Whether a run holds the clients of a target now: then it is that run's to resume. */
  readonly isHeld: (target: PauseTarget) => boolean;
  /** Leads the clients of a target to the primary before they go on, if there is one. Does not take long, and never rejects. */
  readonly lead: (cluster: string, target: PauseTarget) => Promise<void>;
}

/** Of each step with a console, in ms. */
const commandMs = 1_000;
/** How often an unverified RESUME is repeated, in ms. */
const repeatMs = 250;
/** How often databases are looked at again of which nobody knows who has paused them, in ms. */
const lookMs = 5_000;
/** How long a console refuses connections until a pooler counts as gone that is not configured any more, in ms. */
const goneMs = 3_600_000;

/**
 * What runs have left paused: RESUME is repeated until its effect is seen. It keeps nobody from another run, which takes over
 * what it holds. If the intents of an earlier process cannot be read, every paused database is named until somebody resumes
 * it: it may be an operator's pause.
 */
export class LeftPauses {
  readonly #context: LeftPausesContext;
  /** The paused databases of each cluster of which nobody knows who has paused them. */
  #unknown: ReadonlyMap<string, readonly string[]> = new Map();

  constructor(context: LeftPausesContext) {
    this.#context = context;
  }

  /** How many databases of each cluster may be paused since an earlier process. */
  get counts(): ReadonlyMap<string, number> {
    const counts = new Map([...this.#unknown].map(([cluster, names]) => [cluster, names.length]));
    for (const { cluster, targets } of this.#context.intents.open)
      counts.set(cluster, (counts.get(cluster) ?? 0) + targets.length);
    return counts;
  }

  /** The databases of a cluster that runs have left, also those of poolers that are not configured any more. */
  of(cluster: string): readonly IntendedPause[] {
    return this.#context.intents.open.flatMap((intent) => (intent.cluster === cluster ? intent.targets : []));
  }

  /**
   * Reads the intents of an earlier process.
   * @returns those whose runs can be finished as they were begun; the others are resumed
   */
  async start(): Promise<readonly (PauseIntent & { readonly finish: FinishIntent })[]> {
    const { intents, log } = this.#context;
    const left = await intents.read();
    if (left.kind === "unreadable") {
      log.error({ problem: left.problem }, "it is not known what an earlier process has left paused");
      void this.#nameUnknown();
      return [];
    }
    return left.intents.flatMap((intent) => {
      const { finish, cluster, run } = intent;
      const targets = intent.targets.map(pauseName);
      if (finish !== null) {
        log.warn({ cluster, run, targets }, "finishing the switchover of an earlier process");
        return [{ ...intent, finish }];
      }
      log.warn({ cluster, run, targets }, "resuming what an earlier process has paused");
      for (const target of intent.targets) this.take(intent, target);
      return [];
    });
  }

  /** Resumes a target of a run that has ended, until that is verified. Does not wait. */
  take(intent: Pick<PauseIntent, "run" | "cluster" | "finish">, target: IntendedPause): void {
    void this.#resume(intent, target);
  }

  get #hasEnded(): boolean {
    return this.#context.scope.signal.aborted;
  }

  async #resume(
    { run, cluster, finish }: Pick<PauseIntent, "run" | "cluster" | "finish">,
    target: IntendedPause,
  ): Promise<void> {
    const { log, intents, isHeld, now, lead } = this.#context;
    const { pooler, database, console } = target;
    const by = { run, cluster, generation: finish?.generation ?? 0 };
    const resumer = new TargetResumer({ by, database, console }, commandMs);
    const isOpen = (): boolean =>
      intents.open.some(
        (intent) => intent.run === run && intent.targets.some((open) => pauseName(open) === pauseName(target)),
      );
    let lastProblem: string | null = null;
    let absentSinceMs: number | null = null;
    while (!this.#hasEnded && isOpen()) {
      if (!isHeld(target)) {
        const done = await resumer.resume(() => lead(cluster, target));
        if (done.kind === "unsure") {
          absentSinceMs = done.isAbsent ? (absentSinceMs ?? now()) : null;
          if (absentSinceMs !== null && now() - absentSinceMs >= goneMs && !this.#isConfigured(target)) {
            log.warn({ cluster, pooler, database }, "pooler given up: it is gone, and not configured any more");
            await problemOf(intents.close(target, run));
            break;
          }
        }
        const left = done.kind === "unsure" ? done.problem : await problemOf(intents.close(target, run));
        if (left === null) {
          log.info({ cluster, pooler, database }, "database resumed that a switchover had left paused");
          break;
        }
        if (left !== lastProblem) log.error({ cluster, pooler, database, problem: left }, "database not resumed yet");
        lastProblem = left;
      }
      await this.#context.scope.wait(repeatMs);
    }
    resumer.close();
  }

  #isConfigured(target: PauseTarget): boolean {
    return this.#context.databases().some((database) => pauseName(database) === pauseName(target));
  }

  /** Names paused databases, until none is left or the process stops. */
  async #nameUnknown(): Promise<void> {
    let named = "";
    while (!this.#hasEnded) {
      this.#unknown = await pausedNow(this.#context.databases());
      const names = [...this.#unknown.values()].flat();
      if (names.length === 0) return;
      if (names.join() !== named)
        this.#context.log.error(
          { databases: names },
          "databases are paused, and nobody knows by whom: lift it with rolecall switchover CLUSTER --resume",
        );
      named = names.join();
      await this.#context.scope.wait(lookMs);
    }
  }
}

async function problemOf(work: Promise<void>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    return errorMessage(error);
  }
}

/** The paused ones among databases, by cluster. One whose console does not answer counts as paused: it may be. */
async function pausedNow(
  databases: readonly (IntendedPause & { readonly cluster: string })[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  for (const { cluster, pooler, database, console } of databases) {
    if (!(await isPaused(console, database))) continue;
    found.set(cluster, [...(found.get(cluster) ?? []), pauseName({ pooler, database })]);
  }
  return found;
}

async function isPaused(target: IntendedPause["console"], name: string): Promise<boolean> {
  try {
    const console = await PgbouncerConsole.open(target, commandMs);
    try {
      const shown = readDatabases(await console.query("SHOW DATABASES", commandMs));
      return shown.some((database) => database.name === name && database.isPaused);
    } finally {
      console.close();
    }
  } catch {
    return true;
  }
}
