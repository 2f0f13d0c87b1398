/** A TCP proxy on loopback that a test closes, stops and reads along. */
import { connect, createServer, type Server, type Socket } from "node:net";

/** `open`: forwards; `closed`: resets its connections and refuses others; `stopped`: accepts, and forwards nothing. */
export type ProxyState = "open" | "closed" | "stopped";

export class CutProxy {
  readonly #target: number;
  readonly #server: Server;
  readonly #onAnswer: (chunk: string) => void;
  readonly #sockets = new Set<Socket>();
  #state: ProxyState = "open";

  /**
   * @param target the port that it forwards to
   * @param onAnswer gets what the target sends, when it is forwarded
   */
  static async start(target: number, onAnswer: (chunk: string) => void): Promise<CutProxy> {
    const proxy = new CutProxy(target, onAnswer);
    await new Promise<void>((resolve) => void proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  private constructor(target: number, onAnswer: (chunk: string) => void) {
    this.#target = target;
    this.#onAnswer = onAnswer;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#sockets.size;
  }

  set(state: ProxyState): void {
    this.#state = state;
    // A connection that was stopped has lost bytes.
    if (state !== "stopped") for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.set("closed");
    this.#server.close();
  }

  #serve(socket: Socket): void {
    if (this.#state === "closed") {
      socket.destroy();
      return;
    }
    const upstream = connect(this.#target, "127.0.0.1");
    this.#sockets.add(socket);
    const end = (): void => {
      this.#sockets.delete(socket);
      socket.destroy();
      upstream.destroy();
    };
    for (const one of [socket, upstream]) one.setNoDelay(true).on("error", end).on("close", end);
    socket.on("data", (chunk: Buffer) => {
      if (this.#state === "open") upstream.write(chunk);
    });
    upstream.on("data", (chunk: Buffer) => {
      if (this.#state !== "open") return;
      this.#onAnswer(chunk.toString());
      socket.write(chunk);
    });
  }
}
