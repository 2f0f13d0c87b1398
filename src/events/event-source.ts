import type { ClusterEvent } from "./cluster-event.ts";

/** Where events come from: the newest ones in memory, and a call for each new one. */
export interface EventSource {
  /**
   * Registers a listener, which is called once for each new event, in the order of their ids. Restored events are not
   * passed on.
   * @returns removes the listener
   */
  subscribe(listener: (event: ClusterEvent) => void): () => void;
  /** The newest events in memory, oldest first. */
  recent(): readonly ClusterEvent[];
  /**
   * Puts events of an earlier process in front of those in memory.
   * @param events oldest first
   */
  restore(events: readonly ClusterEvent[]): void;
}
