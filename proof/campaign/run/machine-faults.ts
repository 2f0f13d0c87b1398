import type { Seat } from "../wire/seat.ts";

/** Faults that need a simulation: of rolecall's own machine, of addresses, and of the members of the DCS. */
export interface MachineFaults {
  /** Freezes rolecall's process for a time in ms: its clock goes on. */
  freeze(ms: number): void;
  /** Starves rolecall's process for a time in ms: each of its events takes so many ms. */
  starve(ms: number, costMs: number): void;
  /** Suspends rolecall's machine for a time in ms: its monotonic clock stands still. */
  suspend(ms: number): void;
  /** Stops rolecall, and starts it again after a time in ms with the state that it saved. */
  restart(ms: number): void;
  /** Stops a member of the DCS, or takes its quorum away. Returns how to end it. */
  loseDcsMember(member: number, how: "down" | "isolated"): () => void;
  /** Loses the events of the DCS, or delays them. Returns how to end it. */
  disturbDcsEvents(how: "lost" | "late"): () => void;
  /** A node of another cluster: its address is given to it when a node's address is used again. */
  readonly stranger: Seat;
}
