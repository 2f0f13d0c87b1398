import type { ChildProcess } from "node:child_process";
import type { Safeguard } from "../run/switchover-run.ts";
import type { FromGuardian, GuardedRun, ToGuardian } from "./messages.ts";

/** What a guardian depends on. */
export interface GuardianContext {
  /** Starts the process, or takes one that is ready. */
  readonly process: () => ChildProcess;
  /** What it guards. Called once, when it is armed. */
  readonly guarded: () => GuardedRun;
  /** How long the targets may stay paused from then on, if nothing else is said, in ms. */
  readonly leftMs: number;
  /** It ended, or has taken over: what it guards is not safe any more, or is finished by it. */
  readonly onLost: (why: string, hasTakenOver: boolean) => void;
}

/** How long the guardian may take to end by itself, in ms. */
const endMs = 3_000;

/**
 * A child process that finishes the run of this process if this process is killed or stands still.
 */
export class Guardian implements Safeguard {
  readonly name = "guardian";
  readonly #context: GuardianContext;
  #child: ChildProcess | null = null;
  #isDisarmed = false;
  /** Who waits until it knows that the switchover is requested. */
  #onTold: (problem: string | null) => void = () => {};

  constructor(context: GuardianContext) {
    this.#context = context;
  }

  /** Starts the process, and waits until it has its consoles. */
  arm(): Promise<string | null> {
    const { guarded, leftMs, onLost } = this.#context;
    return new Promise((resolve) => {
      const child = this.#context.process();
      this.#child = child;
      let hasTakenOver = false;
      const lost = (why: string): void => {
        resolve(why);
        this.#onTold(why);
        if (!this.#isDisarmed && !hasTakenOver) onLost(why, false);
      };
      child.on("message", (message: FromGuardian) => {
        if (message.kind === "ready") resolve(null);
        else if (message.kind === "told") this.#onTold(null);
        else if (message.kind === "problem") resolve(message.problem);
        else {
          hasTakenOver = true;
          resolve(message.why);
          this.#onTold("it has taken over");
          if (!this.#isDisarmed) onLost(message.why, true);
        }
      });
      child.on("error", (error) => lost(error.message));
      child.once("exit", (code, signal) => lost(`the process ended (${signal ?? `exit code ${code}`})`));
      this.#send({ kind: "guard", leftMs, ...guarded() });
    });
  }

  tell(leftMs: number): Promise<string | null> {
    if (this.#child?.connected !== true) return Promise.resolve("the process ended");
    return new Promise((resolve) => {
      this.#onTold = resolve;
      this.#send({ kind: "request", leftMs });
    });
  }

  beat(open: readonly number[], leftMs: number, watched: readonly number[]): void {
    this.#send({ kind: "beat", open, leftMs, watched });
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
