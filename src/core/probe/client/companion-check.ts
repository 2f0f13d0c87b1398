import { connect, type Socket } from "node:net";
import type { CompanionKind } from "../../cluster/companion.ts";
import type { DatabaseAddress } from "../../cluster/node.ts";
import type { Failure } from "../../cluster/values/failure.ts";
import type { ClientLimits } from "./client.ts";
import { failureOf } from "./failure.ts";
import { ResponseTimeout } from "./response-timeout.ts";

/** Where a companion listens, and what is asked of it. */
export interface CompanionTarget extends DatabaseAddress {
  readonly kind: CompanionKind;
  /** Kind http: what is requested. */
  readonly path: string;
  /** The path of its Unix socket, if it is reached by that and not at its host. */
  readonly socket?: string;
}

/** A check that has begun. */
export interface RunningCheck {
  /** Why the companion gave no answer; `null`: it did. Always resolves, within the limits. */
  readonly ended: Promise<Failure | null>;
  /** Ends the check now. */
  readonly cancel: () => void;
}

/** One companion of one node, as it is checked. */
export interface CheckedCompanion {
  readonly node: string;
  readonly companion: string;
  readonly target: CompanionTarget;
  /** Begins a check of it. */
  readonly begin: () => RunningCheck;
}

/** Begins the check of a companion. */
export type CheckCompanion = (
  target: CompanionTarget,
  limits: Pick<ClientLimits, "connectTimeoutMs" | "timeoutMs" | "lateness">,
) => RunningCheck;

/** A status line that is longer is none, in bytes. */
const statusLineMax = 256;

/**
 * Asks PgBouncer whether it offers TLS, the first message of many clients. It needs no credentials, any PgBouncer answers
 * with one byte, and it logs nothing, also when the connection then ends.
 */
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/**
 * What PgBouncer answers: one byte for TLS or no TLS, or an error such as one connection too many, which has its length.
 * Other programs begin with the same letters: `SSH-2.0-…`, `ERROR`.
 */
const pgbouncerAnswer = /^(?:[SN]$|E\0)/;

/** Checks a companion over a connection of its own, which ends with the answer. */
export const checkCompanion: CheckCompanion = (target, limits) => {
  const check = new Check(target, limits);
  return { ended: check.begin(), cancel: () => check.cancel() };
};

class Check {
  readonly #target: CompanionTarget;
  readonly #limits: Parameters<CheckCompanion>[1];
  #socket: Socket | null = null;
  #timeout: ResponseTimeout | null = null;
  #resolve: (failure: Failure | null) => void = () => {};
  #received = "";

  constructor(target: CompanionTarget, limits: Parameters<CheckCompanion>[1]) {
    this.#target = target;
    this.#limits = limits;
  }

  /** Connects. @returns why there is no answer; `null`: there is one */
  begin(): Promise<Failure | null> {
    const { host, port, socket: path } = this.#target;
    const { connectTimeoutMs, timeoutMs } = this.#limits;
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#startTimeout(Math.min(connectTimeoutMs, timeoutMs));
      const socket = connect(path === undefined ? { host, port } : { path });
      this.#socket = socket;
      socket.once("connect", () => this.#connected(socket));
      socket.on("data", (chunk) => this.#receive(chunk));
      socket.on("error", (error) => this.#settle(failureOf(error)));
      socket.once("close", () => this.#settle({ kind: "reset", detail: "the connection was closed before an answer" }));
    });
  }

  cancel(): void {
    this.#settle({ kind: "not_sent", detail: "the check was ended" });
  }

  #startTimeout(limitMs: number): void {
    this.#timeout?.end();
    this.#timeout = new ResponseTimeout(limitMs, this.#limits.lateness ?? null, (failure) => this.#settle(failure));
    this.#timeout.start();
  }

  #connected(socket: Socket): void {
    const { kind, path, host, port } = this.#target;
    if (kind === "tcp") return this.#settle(null);
    this.#startTimeout(this.#limits.timeoutMs);
    const name = host.includes(":") ? `[${host}]` : host;
    socket.write(
      kind === "pgbouncer"
        ? sslRequest
        : `GET ${path} HTTP/1.1\r\nHost: ${name}:${port}\r\nUser-Agent: rolecall\r\nConnection: close\r\n\r\n`,
    );
  }

  #receive(chunk: Buffer): void {
    const room = statusLineMax - this.#received.length;
    this.#received += chunk.subarray(0, Math.max(0, room)).toString("latin1");
    const failure = this.#target.kind === "http" ? statusFailure(this.#received) : pgbouncerFailure(this.#received);
    if (failure !== undefined) this.#settle(failure);
  }

  /** Only the first call has an effect: a promise resolves once. */
  #settle(failure: Failure | null): void {
    this.#timeout?.end();
    this.#socket?.destroy();
    this.#resolve(failure);
  }
}

/** @returns `undefined` while more has to come */
function pgbouncerFailure(received: string): Failure | null | undefined {
  if (received === "") return undefined;
  if (received === "E") return undefined;
  return pgbouncerAnswer.test(received)
    ? null
    : { kind: "body", detail: `not PgBouncer: it answers ${JSON.stringify(received.slice(0, 20))}` };
}

/** @returns `undefined` while more has to come */
function statusFailure(received: string): Failure | null | undefined {
  const end = received.indexOf("\n");
  if (end < 0 && received.length < statusLineMax) return undefined;
  const [, status] = /^HTTP\/1\.[01] (\d{3})(?: [^\r\n]*)?\r?\n/.exec(received) ?? [];
  if (status === undefined)
    return { kind: "body", detail: `not HTTP: it answers ${JSON.stringify(received.slice(0, 20))}` };
  return status.startsWith("2") ? null : { kind: "status", detail: `HTTP status ${status}` };
}
