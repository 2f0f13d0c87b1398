import { type ChildProcess, fork } from "node:child_process";
import type { CancelTimer, SetTimer } from "../../../core/cluster/timer.ts";
import { PgbouncerConsole } from "../../../core/balancing/pgbouncer/console.ts";
import { childProgram } from "../../../core/program/child-program.ts";

/** Until another process is made ready after one was taken or has ended, in ms. */
const nextMs = 2_000;

/**
 * Starts guardian processes. Where a leader that stops may be announced, one is kept ready that has loaded what it needs:
 * the database waits for it, a second at most.
 */
export class GuardianProcesses {
  readonly #setTimer: SetTimer;
  #ready: ChildProcess | null = null;
  #keepsReady = false;
  #cancelNext: CancelTimer | null = null;

  constructor(setTimer: SetTimer) {
    this.#setTimer = setTimer;
  }

  /** The process that is ready; `null` if there is none. */
  get readyPid(): number | null {
    return this.#ready?.connected === true ? (this.#ready.pid ?? null) : null;
  }

  /** Keeps a process ready from now on, or none any more. */
  keepReady(keeps: boolean): void {
    this.#keepsReady = keeps;
    this.#cancelNext?.();
    this.#cancelNext = null;
    if (!keeps) {
      if (this.#ready?.connected === true) this.#ready.disconnect();
      this.#ready = null;
    } else if (this.#ready === null) {
      // What fails here fails again when a console is opened, and is reported then.
      PgbouncerConsole.load().catch(() => {});
      this.#makeReady();
    }
  }

  /** The process that is ready, or a new one. */
  take(): ChildProcess {
    const child = this.#ready;
    if (child === null || !child.connected) return startGuardian();
    this.#ready = null;
    child.ref();
    child.channel?.ref();
    this.#makeReadyLater();
    return child;
  }

  #makeReady(): void {
    const child = startGuardian();
    this.#ready = child;
    child.unref();
    child.channel?.unref();
    const lost = (): void => {
      if (this.#ready !== child) return;
      this.#ready = null;
      this.#makeReadyLater();
    };
    child.on("error", lost);
    child.once("exit", lost);
  }

  #makeReadyLater(): void {
    if (!this.#keepsReady || this.#cancelNext !== null) return;
    this.#cancelNext = this.#setTimer(() => {
      this.#cancelNext = null;
      if (this.#ready === null) this.#makeReady();
    }, nextMs);
  }
}

/** It is in a process group of its own: a signal to the group of this process does not reach it. */
function startGuardian(): ChildProcess {
  const { module, execArgv } = childProgram("guardian", []);
  return fork(module, [], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "advanced",
    execArgv: [...execArgv],
    detached: true,
  });
}
