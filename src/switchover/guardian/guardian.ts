import type { ChildProcess } from "node:child_process";
import type { Safeguard } from "../run/switchover-run.ts";
import type { IntendedPause } from "../intent/pause-intent.ts";
import type { FromGuardian, ToGuardian } from "./messages.ts";

/** What a guardian depends on. */
export interface GuardianContext {
  /** Starts the process, or takes one that is ready. */
  readonly process: () => ChildProcess;
  /** It ended, or has taken over: what it guards is not safe any more, or is resumed already. */
  readonly onLost: () => void;
}

/** How long the guardian may take to end by itself, in ms. */
const endMs = 3_000;

/**
 * A child process that resumes what this process has paused if this process is killed or stands still.
 */
export class Guardian implements Safeguard {
  readonly name = "guardian";
  readonly #run: string;
  readonly #targets: readonly IntendedPause[];
  readonly #leftMs: number;
  readonly #context: GuardianContext;
  #child: ChildProcess | null = null;
  #isDisarmed = false;

  /** @param leftMs how long the targets may stay paused from now on, if nothing else is said */
  constructor(
    {
      run,
      targets,
      leftMs,
    }: { readonly run: string; readonly targets: readonly IntendedPause[]; readonly leftMs: number },
    context: GuardianContext,
  ) {
    this.#run = run;
    this.#targets = targets;
    this.#leftMs = leftMs;
    this.#context = context;
  }

  /** Starts the process, and waits until it has its consoles. */
  arm(): Promise<string | null> {
    return new Promise((resolve) => {
      const child = this.#context.process();
      this.#child = child;
      const lost = (why: string): void => {
        resolve(why);
        if (!this.#isDisarmed) this.#context.onLost();
      };
      child.on("message", (message: FromGuardian) => {
        if (message.kind === "ready") resolve(null);
        else if (message.kind === "problem") resolve(message.problem);
        else lost(message.why);
      });
      child.on("error", (error) => lost(error.message));
      child.once("exit", (code, signal) => lost(`the process ended (${signal ?? `exit code ${code}`})`));
      this.#send({ kind: "guard", run: this.#run, targets: this.#targets, leftMs: this.#leftMs });
    });
  }

  beat(open: readonly number[], leftMs: number): void {
    this.#send({ kind: "beat", open, leftMs });
  }

  disarm(): void {
    this.#isDisarmed = true;
    const child = this.#child;
    if (child === null) return;
    this.#send({ kind: "end" });
    const timer = setTimeout(() => child.kill("SIGKILL"), endMs);
    child.once("exit", () => clearTimeout(timer));
  }

  #send(message: ToGuardian): void {
    // The empty callback ignores errors: "exit" follows.
    if (this.#child?.connected === true) this.#child.send(message, () => {});
  }
}
