import type { Socket } from "node:net";
import { lastUncontestedLeaderOf } from "../../cluster/leadership.ts";
import { clusterNamed } from "../../cluster/lookup.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";
import { parseDuration } from "../../cluster/values/duration.ts";
import { onClosed } from "../message/connection-closed.ts";
import { badRequest, errorReply, jsonReply, type Reply } from "../message/reply.ts";

/** At most so many wait at a time; a further one is told to come back. */
const waitersMax = 256;
/** The longest wait, in ms. */
const waitMsMax = 60_000;

interface Waiter {
  readonly cluster: string | null;
  readonly sequence: number;
  readonly go: () => void;
}

/** `GET /snapshot?after=EPOCH.N&wait=30s&cluster=NAME`: which snapshot stands now, or a later one as soon as there is one. */
export class SnapshotLongPoll {
  readonly #current: () => Snapshot;
  readonly #waiters = new Set<Waiter>();
  readonly #sockets = new WeakSet<Socket>();

  constructor(current: () => Snapshot) {
    this.#current = current;
  }

  /** To be told of every new snapshot. */
  changed(): void {
    for (const waiter of this.#waiters) if (this.#sequenceOf(waiter.cluster) > waiter.sequence) waiter.go();
  }

  /** @param query the target's part after `?`: `after` names a snapshot seen, `wait` how long to wait for a later one, `cluster` whose; socket: the client's connection */
  answer(query: string, socket: Socket): Reply | Promise<Reply> {
    const given = new URLSearchParams(query);
    const cluster = given.get("cluster");
    if (cluster !== null && !this.#current().index.has(cluster)) {
      return badRequest({
        subject: "parameter cluster",
        value: cluster,
        allowed: `one of ${[...this.#current().index.keys()].join(", ")}`,
      });
    }
    const after = given.get("after");
    const match = after === null ? null : /^([\w-]{1,64})\.(\d{1,15})$/.exec(after);
    if (after !== null && match === null)
      return badRequest({
        subject: "parameter after",
        value: after,
        allowed: "EPOCH.N as X-Rolecall-Snapshot says it",
      });
    const waitMs = parseDuration(given.get("wait") ?? "0s");
    if (waitMs === undefined || waitMs > waitMsMax) {
      return badRequest({
        subject: "parameter wait",
        value: given.get("wait") ?? "",
        allowed: "a time from 0s to 60s, such as 30s",
      });
    }
    const sequence = Number(match?.[2] ?? -1);
    // Another epoch is another run of rolecall: whatever stands now came after it.
    const isLater = match === null || match[1] !== this.#current().instance || this.#sequenceOf(cluster) > sequence;
    if (isLater || waitMs === 0) return this.#reply(isLater);
    if (this.#waiters.size >= waitersMax || this.#sockets.has(socket)) {
      const waiting = this.#sockets.has(socket) ? "a request of this connection is" : `${waitersMax} requests are`;
      const message = `Cannot wait for a snapshot: ${waiting} already waiting`;
      return errorReply(429, "busy", { message, headers: ["Retry-After", "1"] });
    }
    return this.#wait({ cluster, sequence }, waitMs, socket);
  }

  /** A client that leaves frees its place at once. */
  #wait(asked: Omit<Waiter, "go">, waitMs: number, socket: Socket): Promise<Reply> {
    return new Promise((resolve) => {
      const end = (isLater: boolean): void => {
        clearTimeout(timer);
        forget();
        this.#waiters.delete(waiter);
        this.#sockets.delete(socket);
        resolve(this.#reply(isLater));
      };
      const timer = setTimeout(() => end(false), waitMs);
      const forget = onClosed(socket, () => end(false));
      const waiter = { ...asked, go: () => end(true) };
      this.#waiters.add(waiter);
      this.#sockets.add(socket);
    });
  }

  /** A cluster's part carries the number of the snapshot it came with. */
  #sequenceOf(cluster: string | null): number {
    const snapshot = this.#current();
    return clusterNamed(snapshot, cluster)?.sequence ?? snapshot.sequence;
  }

  #reply(isLater: boolean): Reply {
    const { instance, sequence, clusters: states } = this.#current();
    const clusters = Object.fromEntries(
      states.map((cluster) => [
        cluster.name,
        { sequence: cluster.sequence, leader: lastUncontestedLeaderOf(cluster.leadership) },
      ]),
    );
    const body = JSON.stringify({ snapshot: `${instance}.${sequence}`, instance, sequence, later: isLater, clusters });
    return jsonReply({ code: 200, phrase: "OK" }, body, ["X-Rolecall-Snapshot", `${instance}.${sequence}`]);
  }
}
