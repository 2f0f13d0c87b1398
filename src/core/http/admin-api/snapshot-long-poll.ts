import { oneOf } from "../../cluster/values/one-of.ts";
import type { Socket } from "node:net";
import { presentOrLastHolderOf } from "../../cluster/leadership.ts";
import { clusterNamed } from "../../cluster/lookup.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";
import { parseDuration } from "../../cluster/values/duration.ts";
import { onClosed } from "../message/connection-closed.ts";
import { badRequest, errorReply, jsonReply, type Reply } from "../message/reply.ts";

/** How many requests may wait at a time. Further ones get 429. */
const waitersMax = 256;
/** The longest wait, in ms. */
const waitMsMax = 60_000;

/** How a wait ended: a later snapshot came, the time passed, or the client closed its connection. */
export type WaitEnd = "later" | "time" | "closed";

interface Waiter {
  /** The cluster that must have changed; `null`: any. */
  readonly cluster: string | null;
  readonly sequence: number;
  readonly notify: () => void;
}

/** Reads the parameter `wait`. @returns how long a request may wait, in ms; the answer if it cannot be read */
export function parseWait(params: URLSearchParams): number | Reply {
  const value = params.get("wait") ?? "0s";
  const waitMs = parseDuration(value);
  if (waitMs !== undefined && waitMs <= waitMsMax) return waitMs;
  return badRequest({ subject: "parameter wait", value, allowed: "a duration from 0s to 60s, such as 30s" });
}

/**
 * Answers `GET /snapshot?after=INSTANCE.N&wait=30s&cluster=NAME` with the current snapshot, or a later one as soon as
 * there is one.
 */
export class SnapshotLongPoll {
  readonly #current: () => Snapshot;
  readonly #waiters = new Set<Waiter>();
  readonly #sockets = new WeakSet<Socket>();

  constructor(current: () => Snapshot) {
    this.#current = current;
  }

  /** Must be called after every new snapshot. */
  changed(): void {
    for (const waiter of this.#waiters) if (this.#sequenceOf(waiter.cluster) > waiter.sequence) waiter.notify();
  }

  /**
   * @param query the target's part after `?`: `after` names a known snapshot, `wait` how long to wait for a later one,
   *   `cluster` which cluster must have changed
   * @param socket the client's connection: one request of it may wait
   * @param only the listener's cluster: the answer shows no other, and waits for its changes; `null`: all
   */
  answer(query: string, socket: Socket, only: string | null = null): Reply | Promise<Reply> {
    const params = new URLSearchParams(query);
    const cluster = params.get("cluster") ?? only;
    const known = only === null ? [...this.#current().index.keys()] : [only];
    if (cluster !== null && !known.includes(cluster)) {
      const allowed = oneOf(known, "cluster");
      return badRequest({ subject: "parameter cluster", value: cluster, allowed });
    }
    const after = params.get("after");
    const match = after === null ? null : /^([\w-]{1,64})\.(\d{1,15})$/.exec(after);
    if (after !== null && match === null)
      return badRequest({
        subject: "parameter after",
        value: after,
        allowed: "INSTANCE.N as in X-Rolecall-Snapshot",
      });
    const waitMs = parseWait(params);
    if (typeof waitMs !== "number") return waitMs;
    const sequence = Number(match?.[2] ?? -1);
    // Another instance is an earlier run of rolecall: every snapshot of this run is later.
    const isLater = match === null || match[1] !== this.#current().instance || this.#sequenceOf(cluster) > sequence;
    if (isLater || waitMs === 0) return this.#reply(isLater, only);
    const busy = this.#refusalOf(socket);
    if (busy !== null) return busy;
    return this.#wait({ cluster, sequence }, waitMs, socket).then((end) => this.#reply(end === "later", only));
  }

  /**
   * Waits for a later snapshot in which a cluster has changed.
   * @param waitMs how long at most
   * @param socket the client's connection: one request of it may wait
   * @returns the answer if too many wait already
   */
  async waitForLater(cluster: string, waitMs: number, socket: Socket): Promise<WaitEnd | Reply> {
    return this.#refusalOf(socket) ?? this.#wait({ cluster, sequence: this.#sequenceOf(cluster) }, waitMs, socket);
  }

  #refusalOf(socket: Socket): Reply | null {
    if (this.#waiters.size < waitersMax && !this.#sockets.has(socket)) return null;
    const waiting = this.#sockets.has(socket) ? "a request of this connection is" : `${waitersMax} requests are`;
    const message = `Cannot wait for a snapshot: ${waiting} already waiting`;
    return errorReply(429, "busy", { message, headers: ["Retry-After", "1"] });
  }

  /** A client that closes its connection stops waiting at once. */
  #wait(request: Omit<Waiter, "notify">, waitMs: number, socket: Socket): Promise<WaitEnd> {
    return new Promise((resolve) => {
      const end = (how: WaitEnd): void => {
        clearTimeout(timer);
        cancelOnClosed();
        this.#waiters.delete(waiter);
        this.#sockets.delete(socket);
        resolve(how);
      };
      const timer = setTimeout(() => end("time"), waitMs);
      const cancelOnClosed = onClosed(socket, () => end("closed"));
      const waiter = { ...request, notify: () => end("later") };
      this.#waiters.add(waiter);
      this.#sockets.add(socket);
    });
  }

  /** Returns the sequence number of the snapshot in which a cluster last changed. */
  #sequenceOf(cluster: string | null): number {
    const snapshot = this.#current();
    return clusterNamed(snapshot, cluster)?.sequence ?? snapshot.sequence;
  }

  #reply(isLater: boolean, only: string | null): Reply {
    const { instance, sequence, clusters: states } = this.#current();
    const clusters = Object.fromEntries(
      states
        .filter(({ name }) => only === null || name === only)
        .map((cluster) => [
          cluster.name,
          { sequence: cluster.sequence, leader: presentOrLastHolderOf(cluster.leadership) },
        ]),
    );
    const body = JSON.stringify({ snapshot: `${instance}.${sequence}`, instance, sequence, later: isLater, clusters });
    return jsonReply({ code: 200, phrase: "OK" }, body, ["X-Rolecall-Snapshot", `${instance}.${sequence}`]);
  }
}
