import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { ListenerConfig } from "../config/model/config.ts";
import type { RequestHandler } from "../http/message/handler.ts";
import { answerExchange, requestOf } from "../http/message/http-exchange.ts";
import type { ListenerEvents } from "../http/listener/listener-events.ts";
import { relayHeaders, takeRelayed } from "./relay.ts";
import type { RelayAddress } from "./messages.ts";

/** A listener that is open in the workers, and what answers its relayed requests here. */
export interface RelayedListener {
  readonly config: ListenerConfig;
  readonly handler: RequestHandler;
  readonly events: ListenerEvents;
}

/** Larger than any request head that a worker accepts, with the headers that the worker adds. In bytes. */
const headMax = 32_768;

/** Takes the requests that workers relay: on loopback, and only with a secret made for this run. */
export class RelayServer {
  readonly #secret = randomBytes(32).toString("hex");
  readonly #server: Server;
  #listeners: ReadonlyMap<string, RelayedListener> = new Map();

  constructor() {
    this.#server = createServer({ maxHeaderSize: headMax, requireHostHeader: false }, (message, response) =>
      this.#serve(message, response),
    );
  }

  /** Starts listening. @throws the system's error */
  async open(): Promise<RelayAddress> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host: "127.0.0.1", port: 0 }, () => {
        // An accept that fails later makes the worker answer 502. It must not end this process.
        this.#server.on("error", () => {});
        resolve();
      });
    });
    const address = this.#server.address();
    return { port: typeof address === "object" && address !== null ? address.port : 0, secret: this.#secret };
  }

  /** Answers for these listeners, by key, from now on. */
  answerFor(listeners: ReadonlyMap<string, RelayedListener>): void {
    this.#listeners = listeners;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #serve(message: IncomingMessage, response: ServerResponse): void {
    try {
      this.#answer(message, response);
    } catch {
      message.socket.destroy(); // the worker answers its client 502
    }
  }

  #answer(message: IncomingMessage, response: ServerResponse): void {
    const relayed = this.#isSecret(message.headers[relayHeaders.secret]) ? takeRelayed(message) : null;
    const listener = relayed === null ? undefined : this.#listeners.get(relayed.listener);
    if (relayed === null || listener === undefined) {
      message.socket.destroy();
      return;
    }
    const { config, handler, events } = listener;
    const exchange = { message, response, request: requestOf(message) };
    answerExchange(handler, exchange, {
      caller: relayed.caller,
      limits: config.access.limits,
      onError: events.onError,
    });
  }

  #isSecret(given: string | string[] | undefined): boolean {
    const [ours, theirs] = [Buffer.from(this.#secret), Buffer.from(typeof given === "string" ? given : "")];
    return ours.length === theirs.length && timingSafeEqual(ours, theirs);
  }
}
