import { socketProblem } from "../../core/balancing/socket-problem.ts";
import { connect, type Socket } from "node:net";
import type { RuntimeAddress } from "../../core/config/model/config.ts";

/** A Runtime API that cannot be used. The message says why. */
export class RuntimeApiError extends Error {}

/** The most text of one answer: a backend of some thousand servers. */
const answerMax = 1_000_000;
/** The most text of all answers of one session. */
const answersMax = 4_000_000;
/** What ends every answer in HAProxy's interactive mode. */
const prompt = "\n> ";

interface Waiter {
  readonly resolve: (answer: string) => void;
  readonly reject: (error: RuntimeApiError) => void;
}

/**
 * One connection to the Runtime API of HAProxy, in interactive mode (`prompt`). It has one deadline for everything.
 *
 * A connection is used for a few commands and closed. One that stays open would keep a process of HAProxy alive after
 * a reload, and commands would reach that old process (measured with 2.6). A new connection costs 0.05 ms.
 */
export class RuntimeSession {
  readonly #address: RuntimeAddress;
  readonly #deadlineMs: number;
  readonly #waiters: Waiter[] = [];
  #socket: Socket | null = null;
  #deadline: NodeJS.Timeout | null = null;
  #received = "";
  #receivedInAll = 0;
  /** Why no answer will come any more; `null` as long as one may. */
  #problem: string | null = null;

  /** @param deadlineMs how long the whole session may take, in ms */
  constructor(address: RuntimeAddress, deadlineMs: number) {
    this.#address = address;
    this.#deadlineMs = deadlineMs;
  }

  /** Connects and turns the interactive mode on. The commands of the first `run` go out in the same packet. */
  open(): void {
    const socket = connect({ ...this.#address });
    this.#socket = socket;
    socket.setEncoding("utf8").setNoDelay(true);
    socket.on("data", (chunk: string) => this.#receive(chunk));
    socket.on("error", (error) => this.#fail(socketProblem(error) ?? error.message));
    socket.on("close", () => this.#fail("HAProxy closed the connection without a complete answer"));
    const late = `no complete answer within ${this.#deadlineMs} ms`;
    this.#deadline = setTimeout(() => this.#fail(late), this.#deadlineMs);
    this.#waiters.push({ resolve: () => {}, reject: () => {} });
    socket.write("prompt\n");
  }

  /**
   * Sends commands at once, and waits for their answers. No command may contain a line end.
   * @returns one answer for each command, without space around it
   * @throws RuntimeApiError if an answer is missing at the deadline, or the connection fails
   */
  run(commands: readonly string[]): Promise<readonly string[]> {
    const answers = commands.map(
      () =>
        new Promise<string>((resolve, reject) => {
          if (this.#problem === null) this.#waiters.push({ resolve, reject });
          else reject(new RuntimeApiError(this.#problem));
        }),
    );
    this.#socket?.write(commands.map((command) => `${command}\n`).join(""));
    return Promise.all(answers);
  }

  /** Closes the connection. */
  close(): void {
    this.#fail("the session is closed");
  }

  #receive(chunk: string): void {
    this.#received += chunk;
    this.#receivedInAll += chunk.length;
    if (this.#receivedInAll > answersMax) return this.#fail(`the answers are longer than ${answersMax} characters`);
    const tooLong = `the answer is longer than ${answerMax} characters`;
    for (let at = this.#received.indexOf(prompt); at >= 0; at = this.#received.indexOf(prompt)) {
      if (at > answerMax) return this.#fail(tooLong);
      const answer = this.#received.slice(0, at).trim();
      this.#received = this.#received.slice(at + prompt.length);
      this.#waiters.shift()?.resolve(answer);
    }
    // Of the prompt some may be missing.
    if (this.#received.length > answerMax + prompt.length) this.#fail(tooLong);
  }

  #fail(problem: string): void {
    if (this.#problem !== null) return;
    this.#problem = problem;
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#socket?.destroy();
    for (const { reject } of this.#waiters.splice(0)) reject(new RuntimeApiError(problem));
  }
}
