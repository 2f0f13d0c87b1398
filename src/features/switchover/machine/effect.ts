import type { Outcome } from "./state.ts";

/** What is to be done. Targets and routes are positions in the lists of the plan. */
export type SwitchoverEffect =
  | { readonly kind: "check" }
  /** Asks the peers, or the store of the fleet, for the right to run. */
  | { readonly kind: "claim" }
  /** Writes the intent, starts the guardian, and asks the peers. */
  | { readonly kind: "arm" }
  /** Starts another guardian in place of the one that has ended. */
  | { readonly kind: "guard" }
  | { readonly kind: "pause"; readonly target: number }
  | { readonly kind: "read_paused"; readonly target: number }
  /** Says to whoever would finish the run that the switchover is requested next. */
  | { readonly kind: "tell" }
  | { readonly kind: "request" }
  /** Leads every route to a node, and tries again until the run ends. */
  | { readonly kind: "route"; readonly node: string }
  /** Sends RESUME on a new console, and reads back what became of it. */
  | { readonly kind: "resume"; readonly target: number }
  /** Lets every RESUME that follows cut the clients that wait: they have no primary. */
  | { readonly kind: "cut" }
  /** Says durably that nothing is paused there. */
  | { readonly kind: "close"; readonly target: number }
  /** Leaves a target that may still be paused to the work that goes on without the run. */
  | { readonly kind: "leave"; readonly target: number }
  /** Ends the intent, the guardian and the heartbeats before anything was paused. */
  | { readonly kind: "disarm" }
  /** Something that a person should read. */
  | { readonly kind: "step"; readonly step: StepName; readonly text: string | null }
  | { readonly kind: "end"; readonly outcome: Outcome };

/** The steps of a switchover, as people read them. `note`: something unexpected. */
export type StepName =
  | "checked"
  | "armed"
  | "paused"
  | "requested"
  | "accepted"
  | "writable"
  | "restarted"
  | "routed"
  | "resuming"
  | "resumed"
  | "note";
