import { fork, type ChildProcess } from "node:child_process";
import { getPriority, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import type { Answer, Order } from "./protocol.ts";

/** Memory of the process that runs tests, in MB: a mutant that allocates without end must not use up the machine's. */
const heapMb = 2_048;

/** The process that runs tests, with a watchdog: it is killed when it does not answer for too long. */
export class Worker {
  readonly #child: ChildProcess;
  #onAnswer: ((answer: Answer | null) => void) | null = null;
  #isGone = false;

  constructor() {
    const path = fileURLToPath(new URL("./child.js", import.meta.url));
    // Tests print what a mutant makes them print.
    this.#child = fork(path, {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      execArgv: [`--max-old-space-size=${heapMb}`],
    });
    if (this.#child.pid !== undefined) setPriority(this.#child.pid, Math.max(10, getPriority()));
    this.#child.on("message", (answer: Answer) => this.#onAnswer?.(answer));
    this.#child.on("exit", () => {
      this.#isGone = true;
      this.#onAnswer?.(null);
    });
  }

  /** Whether the process has ended. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /**
   * Gives an order and waits for its end.
   * @param silenceMs how long the process may be silent, in ms
   * @param onProgress called with each answer before the last
   * @returns the last answer; `null` if the process ended, or was silent for too long and was killed
   */
  async do(
    order: Order,
    silenceMs: number,
    onProgress: (answer: Answer) => void = () => undefined,
  ): Promise<Answer | null> {
    if (this.#isGone) return null;
    let timer: NodeJS.Timeout | undefined;
    const ended = new Promise<Answer | null>((resolve) => {
      const watch = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => this.#child.kill("SIGKILL"), silenceMs);
      };
      this.#onAnswer = (answer) => {
        watch();
        if (answer === null || ["loaded", "complete", "tried"].includes(answer.kind)) resolve(answer);
        else onProgress(answer);
      };
      watch();
    });
    this.#child.send(order);
    try {
      return await ended;
    } finally {
      clearTimeout(timer);
      this.#onAnswer = null;
    }
  }

  /** Ends the process. */
  async stop(): Promise<void> {
    if (this.#isGone) return;
    const gone = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await gone;
  }
}
