import { connect, type Socket } from "node:net";
import type { CancelTimer, SetTimer } from "../../../core/cluster/timer.ts";
import type { DatabaseAddress } from "../../../core/cluster/node.ts";

/** What a link depends on. */
export interface LeaderLinkContext {
  readonly setTimer: SetTimer;
  /** The connection to the leader's database has ended, and not by this process. Must not throw. */
  readonly onEnd: () => void;
}

/** The request for TLS of PostgreSQL's protocol: its length, and a number that is no version. */
const tlsRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/** Times in ms. PostgreSQL ends a connection that does not log in after 60 s (`authentication_timeout`). */
const renewMs = 50_000;
const connectMs = 2_000;
const againMs = 1_000;

/** A connection that waits behind its request, or is being made. */
interface Connection {
  readonly socket: Socket;
}

/**
 * A connection to the database of the leader that asks for TLS and says nothing more: it ends within 30 ms if the server
 * dies, or ends all of its backends. It needs no credentials, and counts against no limit of connections.
 */
export class LeaderLink {
  readonly #context: LeaderLinkContext;
  #address: DatabaseAddress | null = null;
  #standing: Connection | null = null;
  #opening: Connection | null = null;
  #cancelTimer: CancelTimer | null = null;

  constructor(context: LeaderLinkContext) {
    this.#context = context;
  }

  /** Whether a connection stands now. */
  get stands(): boolean {
    return this.#standing !== null;
  }

  /** Connects to this database from now on; `null`: to none. */
  follow(address: DatabaseAddress | null): void {
    if (address?.host === this.#address?.host && address?.port === this.#address?.port) return;
    this.close();
    this.#address = address;
    if (address !== null) this.#open(address);
  }

  /** Ends it. */
  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    for (const one of [this.#standing, this.#opening]) drop(one);
    this.#standing = null;
    this.#opening = null;
    this.#address = null;
  }

  #open({ host, port }: DatabaseAddress): void {
    const socket = connect({ host, port, noDelay: true });
    const connection: Connection = { socket };
    this.#opening = connection;
    this.#later(connectMs, () => this.#failed(connection));
    socket.on("error", () => {}); // "close" follows
    socket.once("connect", () => socket.write(tlsRequest));
    // What the server says is of no interest. Unread data would keep the end from being seen.
    socket.on("data", () => this.#answered(connection));
    socket.on("end", () => this.#ended(connection));
    socket.once("close", () => this.#ended(connection));
  }

  /** The server holds the connection. The one before it is not needed any more. */
  #answered(connection: Connection): void {
    if (this.#opening !== connection) return;
    this.#opening = null;
    const before = this.#standing;
    this.#standing = connection;
    drop(before);
    this.#later(renewMs, () => this.#renew());
  }

  #renew(): void {
    if (this.#address !== null && this.#opening === null) this.#open(this.#address);
  }

  /** No connection was made in time, or it ended before it stood: that alone says nothing about one that stands. */
  #failed(connection: Connection): void {
    if (this.#opening !== connection) return;
    this.#opening = null;
    drop(connection);
    this.#later(againMs, () => this.#renew());
  }

  #ended(connection: Connection): void {
    if (this.#opening === connection) return this.#failed(connection);
    if (this.#standing !== connection) return;
    this.#standing = null;
    drop(connection);
    if (this.#opening === null) this.#later(againMs, () => this.#renew());
    this.#context.onEnd();
  }

  #later(delayMs: number, work: () => void): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#context.setTimer(work, delayMs);
  }
}

function drop(connection: Connection | null): void {
  connection?.socket.destroy();
}
