import type { ServerChange } from "./server-change.ts";

/** A change that waits. */
interface Waiting {
  readonly change: ServerChange;
  /** Whether the server was fit in one of the changes that it consists of. */
  readonly wasUp: boolean;
}

/**
 * The changes that wait for a balancer: at most one for each server, the newest. So the queue never has more entries
 * than there are servers.
 */
export class ChangeQueue {
  #waiting = new Map<string, Waiting>();

  /** The number of servers with a change. */
  get size(): number {
    return this.#waiting.size;
  }

  /** The number of waiting changes that are newer than an instant, in ms of rolecall's clock. */
  countSince(atMs: number): number {
    return [...this.#waiting.values()].filter(({ change }) => change.atMs > atMs).length;
  }

  /** Adds a change. It replaces an earlier one of the same server. */
  add(change: ServerChange): void {
    const key = keyOf(change);
    this.#waiting.set(key, merge(this.#waiting.get(key), waitingOf(change)));
  }

  /** Returns changes that were not applied. A change of the same server that was added since replaces them. */
  putBack(changes: Iterable<ServerChange>): void {
    for (const change of changes) {
      const key = keyOf(change);
      const newer = this.#waiting.get(key);
      this.#waiting.set(key, newer === undefined ? waitingOf(change) : merge(waitingOf(change), newer));
    }
  }

  /** Takes everything that waits. */
  takeAll(): readonly ServerChange[] {
    const taken = [...this.#waiting.values()].map(({ change }) => change);
    this.#waiting = new Map();
    return taken;
  }
}

/** The names of backends and servers contain no slash. */
function keyOf({ backend, server }: ServerChange): string {
  return `${backend}/${server}`;
}

function waitingOf(change: ServerChange): Waiting {
  return { change, wasUp: change.target === "up" };
}

/** What the newer change leaves as it is, the older one sets. A server that was fit since then keeps its sessions. */
function merge(older: Waiting | undefined, newer: Waiting): Waiting {
  if (older === undefined) return newer;
  const { target, weight, cutsSessions } = newer.change;
  return {
    change: {
      ...newer.change,
      target: target ?? older.change.target,
      weight: weight ?? older.change.weight,
      cutsSessions: cutsSessions || (older.change.cutsSessions && !newer.wasUp),
    },
    wasUp: newer.wasUp || older.wasUp,
  };
}
