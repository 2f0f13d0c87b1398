import { connect, type Socket } from "node:net";

/** One question to rolecall. */
export interface Question {
  readonly method: "GET" | "HEAD";
  readonly path: string;
  /** The target node; null for the whole cluster. */
  readonly node: string | null;
  /** The check, such as /replica?lag=1MB. */
  readonly check: string;
}

/** The object that rolecall adds to a node's document. */
export interface Word {
  readonly node: string | null;
  readonly fit: boolean;
  readonly reason: string | null;
  readonly lag_bytes: number | null;
  readonly lag_ms: number | null;
  readonly observed_at: string | null;
  readonly snapshot: number;
  readonly instance: string;
}

/** rolecall's response and its time. */
export interface Said extends Question {
  readonly askedMs: number;
  readonly answeredMs: number;
  readonly status: number;
  readonly phrase: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly word: Word | null;
}

interface Waiting {
  readonly question: Question;
  readonly askedMs: number;
  readonly resolve: (answer: Said) => void;
  readonly reject: (error: Error) => void;
}

/** Sends questions to rolecall, all of a batch at once. */
export interface Asks {
  ask(questions: readonly Question[]): Promise<readonly Said[]>;
}

/**
 * One kept connection to rolecall; questions are pipelined, so that those of one batch meet one snapshot, or nearly.
 */
export class Asker implements Asks {
  #socket: Socket | null = null;
  #buffer = "";
  readonly #waiting: Waiting[] = [];

  readonly #port: number;
  readonly #now: () => number;

  constructor(port: number, now: () => number) {
    this.#port = port;
    this.#now = now;
  }

  /**
   * Sends all questions in one packet.
   * @throws Error when the connection ends before the last answer, or an answer takes over 10 s
   */
  async ask(questions: readonly Question[]): Promise<readonly Said[]> {
    const socket = this.#open();
    const askedMs = this.#now();
    const answers = questions.map(
      (question) =>
        new Promise<Said>((resolve, reject) => void this.#waiting.push({ question, askedMs, resolve, reject })),
    );
    socket.write(questions.map(({ method, path }) => `${method} ${path} HTTP/1.1\r\nHost: rolecall\r\n\r\n`).join(""));
    const patience = setTimeout(() => socket.destroy(new Error("no answer for 10 s")), 10_000);
    try {
      return await Promise.all(answers);
    } finally {
      clearTimeout(patience);
    }
  }

  /** Ends the connection. */
  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    if (this.#socket !== null && !this.#socket.destroyed) return this.#socket;
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    this.#buffer = "";
    socket.setEncoding("latin1");
    socket.on("data", (text) => {
      this.#buffer += text.toString();
      while (this.#take());
    });
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("the connection was closed")));
    this.#socket = socket;
    return socket;
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #take(): boolean {
    const end = this.#buffer.indexOf("\r\n\r\n");
    const waiting = this.#waiting[0];
    if (end < 0 || waiting === undefined) return false;
    const [first = "", ...lines] = this.#buffer.slice(0, end).split("\r\n");
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    const length = waiting.question.method === "HEAD" ? 0 : Number(headers.get("content-length") ?? 0);
    if (this.#buffer.length < end + 4 + length) return false;
    const body = this.#buffer.slice(end + 4, end + 4 + length);
    this.#buffer = this.#buffer.slice(end + 4 + length);
    this.#waiting.shift();
    const [, status = "0", ...phrase] = first.split(" ");
    waiting.resolve({
      ...waiting.question,
      askedMs: waiting.askedMs,
      answeredMs: this.#now(),
      status: Number(status),
      phrase: phrase.join(" "),
      headers,
      body,
      word: wordOf(body),
    });
    return true;
  }
}

/** A question about a node, or with node null about the whole cluster. */
export function questionOf(
  cluster: string,
  node: string | null,
  check: string,
  method: "GET" | "HEAD" = "GET",
): Question {
  const path = node === null ? `/clusters/${cluster}${check}` : `/clusters/${cluster}/nodes/${node}${check}`;
  return { method, path, node, check };
}

function wordOf(body: string): Word | null {
  try {
    const parsed = JSON.parse(body) as { rolecall?: Word };
    return parsed.rolecall ?? null;
  } catch {
    return null;
  }
}
