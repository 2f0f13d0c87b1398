import type { SendHandle } from "node:child_process";
import { createServer, type Server, type Socket } from "node:net";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import { unmapped } from "../../config/values/cidr.ts";
import { ConnectionLimiter } from "../access/connection-limiter.ts";
import { allowlistOf } from "../access/ip-allowlist.ts";
import type { LineHandler } from "../message/handler.ts";
import { bareSocket, type BindTarget, listenOn } from "./bind-target.ts";
import type { ListenerEvents } from "./listener-events.ts";
import type { SocketListener } from "./socket-listener.ts";

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
interface Conversation {
  readonly socket: Socket;
  readonly peer: string;
  received: string;
  isAnswered: boolean;
  /** Whether the client sent a part of a line, or waits for an answer without sending one. */
  isAwaited: boolean;
  deadline: NodeJS.Timeout;
  silence: NodeJS.Timeout;
}

/**
 * A TCP server that reads one line of each connection, answers it with one line and closes the connection. A client
 * that sends no line, half a line or too long a one gets no answer.
 */
export class LineListener implements SocketListener {
  readonly #events: ListenerEvents;
  readonly #limiter: ConnectionLimiter;
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #handler: LineHandler;
  #access: ListenerAccess;
  #isAllowed: (address: string) => boolean;

  constructor(handler: LineHandler, access: ListenerAccess, events: ListenerEvents) {
    this.#handler = handler;
    this.#access = access;
    this.#events = events;
    this.#isAllowed = allowedBy(access);
    this.#limiter = new ConnectionLimiter(access.limits, (address, reason) =>
      events.onRejected({ address, status: null, reason, request: null }),
    );
    this.#server = createServer({ noDelay: true }, (socket) => this.#onConnection(socket));
  }

  open(target: BindTarget): Promise<number> {
    return listenOn(this.#server, target);
  }

  get socket(): SendHandle {
    return bareSocket(this.#server);
  }

  get boundAddress(): string | null {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.address : null;
  }

  /** Answers by another handler from now on. Connections stay. */
  handleBy(handler: LineHandler): void {
    this.#handler = handler;
  }

  prepare(access: ListenerAccess): () => void {
    const isAllowed = allowedBy(access);
    return () => {
      this.#access = access;
      this.#isAllowed = isAllowed;
      this.#limiter.limitTo(access.limits);
    };
  }

  async close(graceMs: number): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    const timer = setTimeout(() => {
      for (const socket of this.#open) socket.destroy();
    }, graceMs);
    await closed;
    clearTimeout(timer);
  }

  stopAccepting(): void {
    this.#server.close();
  }

  /** Node calls this. What it throws would end the process, so it costs the connection instead. */
  #onConnection(socket: Socket): void {
    socket.on("error", () => {}); // clients reset the connection once they have the answer
    try {
      this.#limiter.onConnection(socket);
      if (socket.destroyed) return;
      const peer = unmapped(socket.remoteAddress ?? "");
      if (this.#isAllowed(peer)) this.#converse(socket, peer);
      else this.#reject(socket, peer, "not_allowed");
    } catch (error) {
      this.#events.onError(error, null);
      socket.destroy();
    }
  }

  #converse(socket: Socket, peer: string): void {
    const conversation: Conversation = {
      socket,
      peer,
      received: "",
      isAnswered: false,
      isAwaited: false,
      // The whole connection has this time, so a client that sends a byte at a time gains nothing.
      deadline: setTimeout(() => this.#expire(conversation, "slow_line"), this.#access.limits.headerTimeoutMs),
      silence: setTimeout(() => this.#answer(conversation, null), silenceMs),
    };
    this.#open.add(socket);
    socket.on("data", (chunk: Buffer) => this.#read(conversation, chunk));
    socket.once("end", () => this.#expire(conversation, "no_line"));
    socket.once("close", () => {
      if (conversation.isAwaited && !conversation.isAnswered) this.#reject(socket, peer, "no_line");
      clearTimeout(conversation.deadline);
      clearTimeout(conversation.silence);
      this.#open.delete(socket);
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
      if (answer === null) {
        conversation.isAwaited = true;
        return;
      }
      conversation.isAnswered = true;
      socket.end(`${answer}\n`);
    } catch (error) {
      conversation.isAnswered = true;
      this.#events.onError(error, null);
      socket.destroy();
    }
  }

  /** Ends a connection that will not send a line any more, or that the client has not closed after its answer. */
  #expire(conversation: Conversation, reason: string): void {
    const { socket, peer, isAnswered, isAwaited } = conversation;
    if (isAnswered) socket.destroySoon();
    else if (isAwaited || reason !== "no_line") {
      conversation.isAnswered = true;
      this.#reject(socket, peer, reason);
    } else socket.destroy(); // a client that connects and closes is no error
  }

  #reject(socket: Socket, address: string, reason: string): void {
    this.#events.onRejected({ address, status: null, reason, request: null });
    socket.destroy();
  }
}

/** Nothing that a line asks for changes anything, so a list for calls that do restricts nobody. */
function allowedBy({ allow, allowFor }: ListenerAccess): (address: string) => boolean {
  return allow === null || allowFor === "unsafe" ? () => true : allowlistOf(allow);
}
