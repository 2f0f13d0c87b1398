import type { Socket } from "node:net";
import type { LineHandler } from "../message/handler.ts";
import type { AdmittedConnection, ConnectionProtocol } from "./connection-listener.ts";

/** The longest line in bytes. */
const lineMax = 1_024;
/**
 * The end of a line. In single quotes HAProxy sends `\n` as a backslash and an n, alone or after `\r`, and nothing after
 * it; other clients may add a real end. No name ends so.
 */
const lineEnd = /(?:\\r)?(?:\\n)?[\r\n]|(?:\\r)?\\n$/;
/** How long a client may wait before it is answered without a line, in ms: some clients send none. */
const silenceMs = 50;

/** One connection, until it is answered. */
interface Conversation extends Pick<AdmittedConnection, "socket" | "peer" | "reject"> {
  received: string;
  isAnswered: boolean;
  /** Whether the client sent a part of a line, or waits for an answer without sending one. */
  isAwaited: boolean;
  deadline: NodeJS.Timeout;
  silence: NodeJS.Timeout;
}

/**
 * Reads one line of each connection, answers it with one line and closes the connection. A client that sends no line,
 * half a line or too long a one gets no answer.
 */
export class LineConversations implements ConnectionProtocol {
  readonly #onError: (error: unknown) => void;
  readonly #open = new Set<Socket>();
  #handler: LineHandler;

  /** @param onError called with what the handler throws; the connection is closed then */
  constructor(handler: LineHandler, onError: (error: unknown) => void) {
    this.#handler = handler;
    this.#onError = onError;
  }

  /** Answers by another handler from now on. Connections stay. */
  handleBy(handler: LineHandler): void {
    this.#handler = handler;
  }

  /** Closes all connections. */
  end(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Reads the line of a client. */
  converse({ socket, peer, limits, reject }: AdmittedConnection): void {
    const conversation: Conversation = {
      socket,
      peer,
      reject,
      received: "",
      isAnswered: false,
      isAwaited: false,
      // The whole connection has this time, so a client that sends a byte at a time gains nothing.
      deadline: setTimeout(() => this.#expire(conversation, "slow_line"), limits.headerTimeoutMs),
      silence: setTimeout(() => this.#answer(conversation, null), silenceMs),
    };
    this.#open.add(socket);
    socket.on("data", (chunk: Buffer) => this.#read(conversation, chunk));
    socket.once("end", () => this.#expire(conversation, "no_line"));
    socket.once("close", () => {
      this.#open.delete(socket);
      if (conversation.isAwaited && !conversation.isAnswered) reject("no_line");
      clearTimeout(conversation.deadline);
      clearTimeout(conversation.silence);
    });
  }

  #read(conversation: Conversation, chunk: Buffer): void {
    if (conversation.isAnswered) return; // only the first line counts
    clearTimeout(conversation.silence);
    conversation.isAwaited = true;
    conversation.received += chunk.toString("utf8", 0, lineMax + 1);
    const end = conversation.received.search(lineEnd);
    if (end >= 0 && end <= lineMax) this.#answer(conversation, conversation.received.slice(0, end));
    else if (conversation.received.length > lineMax) this.#expire(conversation, "line_too_long");
  }

  #answer(conversation: Conversation, line: string | null): void {
    const { socket, peer } = conversation;
    try {
      const answer = this.#handler(line, peer);
      if (answer === false) {
        conversation.isAnswered = true;
        socket.destroy();
        return;
      }
      if (answer === null) {
        conversation.isAwaited = true;
        return;
      }
      conversation.isAnswered = true;
      socket.end(`${answer}\n`);
    } catch (error) {
      conversation.isAnswered = true;
      this.#onError(error);
      socket.destroy();
    }
  }

  /** Ends a connection that will not send a line any more, or that the client has not closed after its answer. */
  #expire(conversation: Conversation, reason: string): void {
    const { socket, isAnswered, isAwaited, reject } = conversation;
    if (isAnswered) socket.destroySoon();
    else if (isAwaited || reason !== "no_line") {
      conversation.isAnswered = true;
      reject(reason);
    } else socket.destroy(); // a client that connects and closes is no error
  }
}
