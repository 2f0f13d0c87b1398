import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Answered } from "./answers.ts";

/** What a client asks next. */
export type Question = Pick<Answered, "cluster" | "node" | "check">;

/** How a client connects. */
export interface Connection {
  readonly port: number;
  readonly isTls: boolean;
  /** Opens a connection for each check, as HAProxy does. */
  readonly isClosing: boolean;
}

/** Why a check was not answered: the other side closed the connection, or the client gave up waiting. */
export type Loss = "closed" | "late";

/** How long a client waits for an answer, in ms. */
const patienceMs = 10_000;

/** A client of health checks: one check at a time on its connection. */
export class CheckClient {
  readonly #how: Connection;
  readonly #onAnswer: (answer: Answered) => void;
  readonly #onLost: (why: Loss) => void;
  #socket: Socket | null = null;
  #asked: { readonly question: Question; readonly askedMs: number } | null = null;
  #text = "";
  #isLate = false;

  constructor(how: Connection, onAnswer: (answer: Answered) => void, onLost: (why: Loss) => void) {
    this.#how = how;
    this.#onAnswer = onAnswer;
    this.#onLost = onLost;
  }

  /** Sends a check, unless the last one is not answered yet. @returns whether it was sent */
  ask(question: Question): boolean {
    if (this.#asked !== null) {
      if (performance.now() - this.#asked.askedMs > patienceMs) {
        this.#isLate = true;
        this.#socket?.destroy();
      }
      return false;
    }
    this.#asked = { question, askedMs: performance.now() };
    const { cluster, node, check } = question;
    const close = this.#how.isClosing ? "Connection: close\r\n" : "";
    this.#open().write(`GET /clusters/${cluster}/nodes/${node}${check} HTTP/1.1\r\nHost: a\r\n${close}\r\n`);
    return true;
  }

  stop(): void {
    this.#asked = null;
    this.#socket?.destroy();
  }

  #open(): Socket {
    if (this.#socket !== null && !this.#socket.destroyed && this.#socket.writable) return this.#socket;
    const { port, isTls } = this.#how;
    const socket = isTls
      ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false })
      : connect({ port, host: "127.0.0.1", noDelay: true });
    this.#text = "";
    socket.setEncoding("latin1");
    socket.on("data", (piece: unknown) => this.#receive(String(piece)));
    socket.on("error", () => {}).on("close", () => this.#lose(socket));
    this.#socket = socket;
    return socket;
  }

  #lose(socket: Socket): void {
    if (socket !== this.#socket) return;
    this.#socket = null;
    if (this.#asked === null) return;
    this.#asked = null;
    this.#onLost(this.#isLate ? "late" : "closed");
    this.#isLate = false;
  }

  #receive(piece: string): void {
    this.#text += piece;
    const end = this.#text.indexOf("\r\n\r\n");
    if (end < 0 || this.#asked === null) return;
    const head = this.#text.slice(0, end);
    const size = end + 4 + Number(headerOf(head, "content-length") ?? 0);
    if (this.#text.length < size) return;
    const answer: Answered = {
      ...this.#asked.question,
      askedMs: this.#asked.askedMs,
      answeredMs: performance.now(),
      status: Number(head.slice(9, 12)),
      reason: headerOf(head, "x-rolecall-reason"),
      named: headerOf(head, "x-rolecall-node"),
      word: wordOf(this.#text.slice(end + 4, size)),
    };
    this.#text = this.#text.slice(size);
    this.#asked = null;
    if (this.#how.isClosing) {
      this.#socket?.destroy();
      this.#socket = null;
    }
    this.#onAnswer(answer);
  }
}

function headerOf(head: string, name: string): string | null {
  return new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim() ?? null;
}

function wordOf(body: string): Answered["word"] {
  try {
    return (JSON.parse(body) as { readonly rolecall?: Answered["word"] }).rolecall ?? null;
  } catch {
    return null;
  }
}
