import type { CancelTimer, SetTimer } from "../cluster/timer.ts";
import { errorMessage } from "../cluster/values/error-message.ts";
import type { Logger } from "../log/logger.ts";
import { PgbouncerConsole } from "../push/pgbouncer/console.ts";
import { readDatabases } from "../push/pgbouncer/documents.ts";
import { TargetResumer } from "./hands/resume-target.ts";
import { pauseName } from "./machine/plan.ts";
import type { IntentFile } from "./intent/intent-file.ts";
import type { IntendedPause, PauseIntent } from "./intent/pause-intent.ts";

/** What it depends on. */
export interface LeftPausesContext {
  readonly log: Logger;
  readonly intents: IntentFile;
  readonly setTimer: SetTimer;
  /** The databases of all poolers, with their clusters. */
  readonly databases: () => readonly (IntendedPause & { readonly cluster: string })[];
}

/** Of each step with a console, in ms. */
const commandMs = 1_000;
/** How often an unverified RESUME is repeated, in ms. */
const repeatMs = 250;
/** How often databases are looked at again of which nobody knows who has paused them, in ms. */
const lookMs = 5_000;

/**
 * What an earlier process has left paused. What its intents name is resumed. If they cannot be read, every paused
 * database is named until somebody resumes it: it may be an operator's pause.
 */
export class LeftPauses {
  readonly #context: LeftPausesContext;
  /** The paused databases of each cluster of which nobody knows who has paused them. */
  #unknown: ReadonlyMap<string, readonly string[]> = new Map();
  readonly #waits = new Map<() => void, CancelTimer>();
  #isStopped = false;

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

  /** Reads the intents. Resolves when they are read; RESUME goes on until it is verified. */
  async start(): Promise<void> {
    const { intents, log } = this.#context;
    const left = await intents.read();
    if (left.kind === "unreadable") {
      log.error({ problem: left.problem }, "it is not known what an earlier process has left paused");
      void this.#nameUnknown();
      return;
    }
    for (const intent of left.intents) {
      const targets = intent.targets.map(pauseName);
      log.warn({ cluster: intent.cluster, run: intent.run, targets }, "resuming what an earlier process has paused");
      for (const target of intent.targets) void this.#resume(intent, target);
    }
  }

  stop(): void {
    this.#isStopped = true;
    for (const [resolve, cancel] of this.#waits) {
      cancel();
      resolve();
    }
    this.#waits.clear();
  }

  async #resume({ run, cluster }: PauseIntent, { pooler, database, console }: IntendedPause): Promise<void> {
    const { log, intents } = this.#context;
    const resumer = new TargetResumer({ run, database, console }, commandMs);
    let lastProblem: string | null = null;
    while (!this.#isStopped) {
      const problem = await resumer.resume();
      const left = problem ?? (await problemOf(intents.close(run, { pooler, database })));
      if (left === null) {
        log.info({ cluster, pooler, database }, "database resumed that an earlier process had paused");
        break;
      }
      if (left !== lastProblem) log.error({ cluster, pooler, database, problem: left }, "database not resumed yet");
      lastProblem = left;
      await this.#wait(repeatMs);
    }
    resumer.close();
  }

  /** Names paused databases, until none is left or the process stops. */
  async #nameUnknown(): Promise<void> {
    let named = "";
    while (!this.#isStopped) {
      this.#unknown = await pausedNow(this.#context.databases());
      const names = [...this.#unknown.values()].flat();
      if (names.length === 0) return;
      if (names.join() !== named)
        this.#context.log.error(
          { databases: names },
          "databases are paused, and nobody knows by whom: lift it with rolecall switchover CLUSTER --resume",
        );
      named = names.join();
      await this.#wait(lookMs);
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#context.setTimer(() => {
        this.#waits.delete(resolve);
        resolve();
      }, ms);
      this.#waits.set(resolve, cancel);
    });
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
