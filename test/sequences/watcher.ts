import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { answerInHead, AnswerRecord } from "./answer-record.ts";

/** An observed check of a node, with a Host header of its own if it matters. */
export interface Look {
  readonly key: string;
  readonly path: string;
  readonly host: string;
}

/**
 * Requests the checks of one cluster over one connection, each round in one write. Records every change of an answer.
 */
export class Watcher {
  readonly record: AnswerRecord;
  /** The longest wait of a round for its answers, in seconds. On an overloaded machine no judgement is possible. */
  slowest = 0;
  readonly #looks: readonly Look[];
  readonly #now: () => number;
  readonly #socket: Socket;
  readonly #batch: string;
  readonly #answers: string[] = [];
  #rest = "";
  #sentAt = -1;
  #timer: NodeJS.Timeout | null = null;

  private constructor(socket: Socket, looks: readonly Look[], now: () => number) {
    this.record = new AnswerRecord(looks);
    this.#looks = looks;
    this.#now = now;
    this.#batch = looks.map(({ path, host }) => `HEAD ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`).join("");
    this.#socket = socket;
    this.#socket.setEncoding("latin1").on("data", (text: string) => this.#read(text));
    this.#socket.on("close", () => this.stop());
    this.#socket.on("error", () => this.stop());
  }

  /** Connects, so that the first round does not have to. */
  static async open(port: number, looks: readonly Look[], now: () => number): Promise<Watcher> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new Watcher(socket, looks, now);
  }

  start(everyMs: number): void {
    this.#timer = setInterval(() => this.#look(), everyMs);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#socket.destroy();
  }

  #look(): void {
    if (this.#sentAt >= 0) return;
    this.#sentAt = this.#now();
    this.#socket.write(this.#batch);
  }

  #read(text: string): void {
    this.#rest += text;
    for (;;) {
      const end = this.#rest.indexOf("\r\n\r\n");
      if (end < 0) return;
      this.#answers.push(answerInHead(this.#rest.slice(0, end)));
      this.#rest = this.#rest.slice(end + 4);
      if (this.#answers.length === this.#looks.length) this.#take(this.#answers.splice(0));
    }
  }

  #take(answers: readonly string[]): void {
    this.slowest = Math.max(this.slowest, this.#now() - this.#sentAt);
    this.record.add(this.#sentAt, answers);
    this.#sentAt = -1;
  }
}
