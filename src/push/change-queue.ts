import type { ServerChange } from "./server-change.ts";

/**
 * The changes that wait for a balancer: at most one for each server, the newest. So the queue never has more entries
 * than there are servers.
 */
export class ChangeQueue {
  #waiting = new Map<string, ServerChange>();

  /** The number of servers with a change. */
  get size(): number {
    return this.#waiting.size;
  }

  /** The number of waiting changes that are newer than an instant, in ms of rolecall's clock. */
  countSince(atMs: number): number {
    return [...this.#waiting.values()].filter((change) => change.atMs > atMs).length;
  }

  /** Adds a change. It replaces an earlier one of the same server. */
  add(change: ServerChange): void {
    const key = keyOf(change);
    this.#waiting.set(key, merge(this.#waiting.get(key), change));
  }

  /** Returns changes that were not applied. A change of the same server that was added since replaces them. */
  putBack(changes: Iterable<ServerChange>): void {
    for (const change of changes) {
      const key = keyOf(change);
      const newer = this.#waiting.get(key);
      this.#waiting.set(key, newer === undefined ? change : merge(change, newer));
    }
  }

  /** Takes everything that waits. */
  takeAll(): readonly ServerChange[] {
    const taken = [...this.#waiting.values()];
    this.#waiting = new Map();
    return taken;
  }
}

/** The names of backends and servers contain no slash. */
function keyOf({ backend, server }: ServerChange): string {
  return `${backend}/${server}`;
}

/** What the newer change leaves as it is, the older one sets. A server that is fit again keeps its sessions. */
function merge(older: ServerChange | undefined, newer: ServerChange): ServerChange {
  if (older === undefined) return newer;
  return {
    ...newer,
    target: newer.target ?? older.target,
    weight: newer.weight ?? older.weight,
    cutsSessions: newer.cutsSessions || (older.cutsSessions && newer.target !== "up"),
  };
}
