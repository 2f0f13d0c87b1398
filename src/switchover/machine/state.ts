/**
 * How far one database of a pooler is.
 * - `asked`: PAUSE may have been sent, and may take effect at any time
 * - `withheld`: PAUSE was not sent, so there is nothing to resume
 * - `paused`: PAUSE was answered
 * - `confirmed`: `SHOW DATABASES` said `paused` afterwards
 * - `resuming`: RESUME was sent, and is repeated until its effect is seen
 * - `resumed`: not paused, no client waits for it, and no console with a PAUSE of ours is left
 * - `closed`: the intent says durably that nothing is paused here
 */
export type TargetPhase = "asked" | "withheld" | "paused" | "confirmed" | "resuming" | "resumed" | "closed";

/** How a switchover ended. Only after `switched`, `unknown` and `no_primary` may another node lead. */
export type Outcome =
  | { readonly kind: "dry_run" }
  /** Nothing was paused, and nothing was requested. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Clients were held for a moment; nothing was requested. */
  | { readonly kind: "aborted"; readonly reason: string }
  /** The cluster refused the request. */
  | { readonly kind: "rejected"; readonly status: number; readonly reason: string }
  | { readonly kind: "switched"; readonly node: string }
  /** The leader that was to stop leads. Nothing was requested. */
  | { readonly kind: "stayed"; readonly reason: string }
  /** The request may still have an effect. */
  | { readonly kind: "unknown"; readonly reason: string }
  /** The old leader was demoted, and no node had become primary at the deadline. */
  | { readonly kind: "no_primary" };

/** What is known of the request to the cluster. `announced`: rolecall makes none. */
export type RequestPhase = "sent" | "accepted" | "unknown" | "announced";

/** How far a route is. A route that cannot be read is `waited` for instead. */
export type RoutePhase = "changing" | "verified" | "waited";

/** A state in which something may be paused. All times are in ms of rolecall's clock. */
interface Holding {
  readonly targets: readonly TargetPhase[];
  /** When everything is resumed, whatever happens. */
  readonly deadlineMs: number;
  /** When the machine last ran. */
  readonly ranAtMs: number;
  /** When each peer last answered a heartbeat, in the order of the plan. */
  readonly heardMs: readonly number[];
}

/** The state of one switchover. */
export type SwitchoverState =
  /** The checks run. */
  | { readonly kind: "checking"; readonly untilMs: number }
  /** The intent, the guardian and the peers are waited for. */
  | { readonly kind: "arming"; readonly untilMs: number; readonly waitsFor: readonly string[] }
  /** Each PAUSE is waited for, and then read back. */
  | (Holding & { readonly kind: "pausing"; readonly untilMs: number })
  /** The switchover was requested or announced; a new primary is waited for. */
  | (Holding & {
      readonly kind: "switching";
      readonly request: RequestPhase;
      /** The primary that was last seen. */
      readonly primary: string | null;
      /** Since when the old leader is the primary and nothing is pending in the DCS; `null`: it is not. */
      readonly quietSinceMs: number | null;
    })
  /** A new primary takes writes; the routes to it are waited for. */
  | (Holding & { readonly kind: "routing"; readonly node: string; readonly routes: readonly RoutePhase[] })
  /** Every RESUME is repeated until its effect is seen. No deadline ends this. */
  | (Holding & { readonly kind: "resuming"; readonly outcome: Outcome; readonly repeatAtMs: number })
  /** Clients go on without a primary. One that appears gets the routes. */
  | { readonly kind: "following"; readonly untilMs: number; readonly outcome: Outcome }
  | { readonly kind: "ended"; readonly outcome: Outcome };
