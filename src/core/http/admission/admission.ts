import type { Socket } from "node:net";
import { setClientAddress } from "../access/client-addresses.ts";
import { readFirstBytes, type FirstBytes } from "./first-bytes.ts";
import { readPreamble } from "./proxy-preamble.ts";
import { refuseRaw } from "./raw-refusal.ts";
import { rejectionFor, type RejectionReason } from "./rejection.ts";

/** What a connection has to begin with. */
export interface AdmissionRules {
  /** Whether the connection must begin with a PROXY preamble. Others may not have one. */
  readonly needsPreamble: boolean;
  /** What comes after it: `tls`: a handshake; `http`: a request. */
  readonly expects: "tls" | "http";
  /** How long the first bytes may take, in ms. */
  readonly timeoutMs: number;
}

/** Where a connection goes. Each is called at most once, and none of them throws. */
export interface AdmissionEvents {
  /** A preamble was read. @returns whether the client that it names may connect; if not, the socket is closed */
  readonly onPreamble: (socket: Socket) => boolean;
  /** The connection may begin: what it sent is in front of the socket again. */
  readonly onAdmitted: (socket: Socket) => void;
  readonly onRejected: (socket: Socket, reason: RejectionReason) => void;
}

/**
 * Reads the first bytes of connections before TLS or node:http does: a PROXY preamble, and what tells a request from
 * other protocols. A connection is `preamble`, then `first bytes`, then done. One that ends before it sent a byte is no
 * error: balancers connect and close.
 */
export class Admission {
  readonly #events: AdmissionEvents;
  /** Connections that are not admitted yet. */
  readonly #waiting = new Set<Socket>();

  constructor(events: AdmissionEvents) {
    this.#events = events;
  }

  /** Closes the connections that are not admitted yet. */
  close(): void {
    for (const socket of this.#waiting) socket.destroy();
  }

  /** Reads a new connection, or what is inside TLS. */
  admit(socket: Socket, rules: AdmissionRules): void {
    let bytes: Buffer = Buffer.alloc(0);
    let stage: "preamble" | "first bytes" | "done" = "preamble";
    const timer = setTimeout(() => finish(() => this.#expire(socket, bytes.length > 0, rules)), rules.timeoutMs);
    const onError = (): void => void socket.destroy();
    const finish = (then: () => void): void => {
      if (stage === "done") return;
      stage = "done";
      clearTimeout(timer);
      this.#waiting.delete(socket);
      for (const [event, listener] of listeners) socket.removeListener(event, listener);
      then();
    };
    const reject = (reason: RejectionReason): void => finish(() => this.#reject(socket, reason));
    const decide = (): void => {
      if (stage === "preamble") {
        const preamble = readPreamble(bytes);
        if (preamble.kind === "more") return;
        if (preamble.kind === "invalid")
          return reject(rules.needsPreamble ? "proxy_protocol_invalid" : "proxy_protocol");
        if (preamble.kind === "preamble") {
          if (!rules.needsPreamble) return reject("proxy_protocol");
          bytes = bytes.subarray(preamble.length);
          if (preamble.address !== null) setClientAddress(socket, preamble.address);
          if (!this.#events.onPreamble(socket)) return finish(() => {});
        } else if (rules.needsPreamble) return reject("no_proxy_protocol");
        stage = "first bytes";
      }
      const found = firstBytes(bytes, rules);
      if (found.kind === "rejected") reject(found.reason);
      else if (found.kind === "tls") finish(() => this.#beginTls(socket, bytes));
      else if (found.kind === "http") finish(() => this.#beginHttp(socket, found.bytes ?? bytes));
    };
    const onData = (chunk: Buffer): void => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      decide();
    };
    const onEnd = (): void => {
      if (bytes.length > 0) reject("closed_early");
      else finish(() => socket.destroySoon());
    };
    const listeners = [
      ["error", onError],
      ["data", onData],
      ["end", onEnd],
      ["close", () => finish(() => {})],
    ] as const;
    this.#waiting.add(socket);
    for (const [event, listener] of listeners) socket.on(event, listener);
  }

  /** TLS takes what a socket has buffered before it reads on. */
  #beginTls(socket: Socket, bytes: Buffer): void {
    socket.pause();
    socket.unshift(bytes);
    this.#events.onAdmitted(socket);
  }

  /** node:http listens to the data of a socket that flows: so it gets what was read without another turn. */
  #beginHttp(socket: Socket, bytes: Buffer): void {
    this.#events.onAdmitted(socket);
    socket.emit("data", bytes);
  }

  #reject(socket: Socket, reason: RejectionReason): void {
    this.#events.onRejected(socket, reason);
    refuseRaw(socket, rejectionFor(reason));
  }

  /** A connection that sent nothing gets the answer of node:http. One that sent a part is told what is missing. */
  #expire(socket: Socket, hasSent: boolean, { expects }: AdmissionRules): void {
    if (hasSent) this.#reject(socket, "slow_head");
    else if (expects === "tls") socket.destroy();
    else socket.end("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n", () => socket.destroy());
  }
}

function firstBytes(bytes: Buffer, { expects }: AdmissionRules): FirstBytes {
  const found = readFirstBytes(bytes);
  if (expects === "http") return found.kind === "tls" ? { kind: "rejected", reason: "tls_on_plain_port" } : found;
  // What is neither TLS nor HTTP goes to TLS, which answers with an alert.
  if (found.kind === "rejected" && found.reason === "not_http") return { kind: "tls" };
  const isHttp = found.kind === "http" || (found.kind === "rejected" && found.reason !== "postgresql");
  return isHttp ? { kind: "rejected", reason: "plain_http_on_tls" } : found;
}
