import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { ListenerConfig } from "../config/model/config.ts";
import type { RequestHandler } from "../http/message/handler.ts";
import { answerExchange, requestOf } from "../http/message/http-exchange.ts";
import type { ListenerEvents } from "../http/listener/listener-events.ts";
import { relayHeaders, takeRelayed } from "../gateway/relay.ts";
import type { RelayAddress } from "./messages.ts";

/** A listener whose doors are in the workers, and who answers here what they pass on. */
export interface RelayedListener {
  readonly config: ListenerConfig;
  readonly answerer: RequestHandler;
  readonly events: ListenerEvents;
}

/** Larger than any head that a worker's door lets in, with what the worker adds. */
const headMax = 32_768;

/** Where workers bring what they do not answer: on loopback, and only to those who know a word that was made for this run. */
export class RelayServer {
  readonly #secret = randomBytes(32).toString("hex");
  readonly #server: Server;
  #listeners: ReadonlyMap<string, RelayedListener> = new Map();

  constructor() {
    this.#server = createServer({ maxHeaderSize: headMax, requireHostHeader: false }, (message, response) =>
      this.#take(message, response),
    );
  }

  /** Opens it. @throws what the system says */
  async open(): Promise<RelayAddress> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host: "127.0.0.1", port: 0 }, () => {
        // An accept that fails later is a 502 of the worker, not the end of this process.
        this.#server.on("error", () => {});
        resolve();
      });
    });
    const address = this.#server.address();
    return { port: typeof address === "object" && address !== null ? address.port : 0, secret: this.#secret };
  }

  /** Answers for these listeners from now on. */
  answerFor(listeners: ReadonlyMap<string, RelayedListener>): void {
    this.#listeners = listeners;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #take(message: IncomingMessage, response: ServerResponse): void {
    try {
      this.#answer(message, response);
    } catch {
      message.socket.destroy(); // the worker answers its client 502
    }
  }

  #answer(message: IncomingMessage, response: ServerResponse): void {
    const relayed = this.#isKnown(message.headers[relayHeaders.secret]) ? takeRelayed(message) : null;
    const listener = relayed === null ? undefined : this.#listeners.get(relayed.listener);
    if (relayed === null || listener === undefined) {
      message.socket.destroy();
      return;
    }
    const { config, answerer, events } = listener;
    const exchange = { message, response, request: requestOf(message) };
    answerExchange(answerer, exchange, {
      caller: relayed.caller,
      limits: config.access.limits,
      onError: events.onError,
    });
  }

  #isKnown(given: string | string[] | undefined): boolean {
    const [ours, theirs] = [Buffer.from(this.#secret), Buffer.from(typeof given === "string" ? given : "")];
    return ours.length === theirs.length && timingSafeEqual(ours, theirs);
  }
}
