import { connect } from "node:tls";
import type { Failure } from "../../cluster/observation.ts";

/** A node that fails is looked at this seldom, in ms: a handshake costs it one of its few workers. */
const pauseMs = 30_000;
/** How plain HTTP fails on a TLS port: the connection is reset, or bytes come that are no HTTP. */
const suspicious: readonly Failure["kind"][] = ["reset", "body"];

/**
 * Notices a node whose API turned to https while its address still says http (patroni's restapi.certfile, set on a running cluster).
 * What is found stays named until the node answers again, so that the reason does not flap.
 */
export class HttpsHint {
  readonly #origin: URL;
  readonly #now: () => number;
  readonly #timeoutMs: number;
  #askedAtMs = -Infinity;
  #speaksTls = false;

  /** @param now our clock, in ms */
  constructor(origin: string, now: () => number, timeoutMs: number) {
    this.#origin = new URL(origin);
    this.#now = now;
    this.#timeoutMs = timeoutMs;
  }

  /** To be told of an answer: whatever was found before holds no longer. */
  forget(): void {
    this.#askedAtMs = -Infinity;
    this.#speaksTls = false;
  }

  /** Gives a failure its name: its own, or `https` where the node speaks TLS. */
  async refine(failure: Failure): Promise<Failure> {
    if (this.#origin.protocol !== "http:" || !suspicious.includes(failure.kind)) return failure;
    if (this.#now() - this.#askedAtMs >= pauseMs) {
      this.#askedAtMs = this.#now();
      this.#speaksTls = await this.#shakesHands();
    }
    const detail = `${this.#origin.origin} speaks TLS: its address must begin with https://`;
    return this.#speaksTls ? { kind: "https", detail } : failure;
  }

  /** Whether a TLS server is there, whatever its certificate: an alert is a word of TLS too. */
  #shakesHands(): Promise<boolean> {
    const { hostname, port } = this.#origin;
    return new Promise((resolve) => {
      const host = hostname.replace(/^\[(.*)\]$/, "$1");
      // Nothing is sent or believed over this connection, so nobody's certificate matters.
      const socket = connect({
        host,
        port: port === "" ? 80 : Number(port),
        rejectUnauthorized: false,
        timeout: this.#timeoutMs,
      });
      const end = (speaks: boolean): void => {
        socket.destroy();
        resolve(speaks);
      };
      socket.on("secureConnect", () => end(true));
      socket.on("timeout", () => end(false));
      socket.on("error", (error: NodeJS.ErrnoException) => end(/_ALERT_/.test(error.code ?? "")));
      socket.on("close", () => resolve(false));
    });
  }
}
