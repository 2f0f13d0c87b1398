/**
 * How far one database of a pooler is.
 * - `watched`: nothing was sent. Its clients are held once it refuses them
 * - `unheld`: the same, in a run that another process has begun: that one may have sent PAUSE, so RESUME follows at the end
 * - `asked`: PAUSE may have been sent, and may take effect at any time
 * - `withheld`: PAUSE was not sent, so there is nothing to resume
 * - `paused`: PAUSE was answered
 * - `confirmed`: `SHOW DATABASES` said `paused` afterwards
 * - `absent`: the console refuses connections while clients are held: PgBouncer is gone, or something between refuses.
 *   Nobody waits for it
 * - `resuming`: RESUME was sent, and is repeated until its effect is seen
 * - `unreached`: the same, and the console refuses connections: nobody waits for it
 * - `resumed`: not paused, no client waits for it, and no console with a PAUSE of ours is left
 * - `closed`: the intent says durably that nothing is paused here
 * - `left`: the run has ended; RESUME is repeated without it
 */
export type TargetPhase =
  | "watched"
  | "unheld"
  | "asked"
  | "withheld"
  | "paused"
  | "confirmed"
  | "absent"
  | "resuming"
  | "unreached"
  | "resumed"
  | "closed"
  | "left";

/** How a switchover came out, apart from poolers that it could not finish. */
export type SettledOutcome =
  | { readonly kind: "dry_run" }
  /** Nothing was paused, and nothing was requested. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Clients were held for a moment; nothing was requested. */
  | { readonly kind: "aborted"; readonly reason: string }
  /** The cluster refused the request. */
  | { readonly kind: "rejected"; readonly status: number; readonly reason: string }
  | { readonly kind: "switched"; readonly node: string }
  /** The database of the node has been restarted, and takes clients. */
  | { readonly kind: "restarted"; readonly node: string }
  /** The leader that was to stop leads. Nothing was requested. */
  | { readonly kind: "stayed"; readonly reason: string }
  /** The request may still have an effect. */
  | { readonly kind: "unknown"; readonly reason: string }
  /** The old leader was demoted, and no node had become primary at the deadline. */
  | { readonly kind: "no_primary" };

/** Clients are led to a node before they go on. */
export type LedOutcome = Extract<SettledOutcome, { readonly kind: "switched" | "restarted" }>;

export function isLed(outcome: SettledOutcome): outcome is LedOutcome {
  return outcome.kind === "switched" || outcome.kind === "restarted";
}

/** Who stood still, or was taken over, requests nothing any more. */
export const withheldOutcome = {
  kind: "aborted",
  reason: "rolecall stood still before the request, or another process has taken over: nothing was requested",
} as const satisfies SettledOutcome;

/** How a switchover ended. Only after `switched`, `unknown` and `no_primary` may another node lead. */
export type Outcome =
  | SettledOutcome
  /** It ended while poolers may be paused, or do not lead to the new primary. They are tried on. */
  | { readonly kind: "unfinished"; readonly of: SettledOutcome; readonly left: readonly LeftTarget[] };

/** A database of a pooler that a run could not finish. */
export interface LeftTarget {
  /** As `pgb1/orders`. */
  readonly target: string;
  /** `paused`: its clients may still wait. `unrouted`: they go on, and it was not seen to lead to the new primary. */
  readonly state: "paused" | "unrouted";
  /** What was in the way; `null` if that is not known. */
  readonly problem: string | null;
}

/** What is known of the request to the cluster. `announced`, `lost`: rolecall makes none. */
export type RequestPhase = "sent" | "accepted" | "unknown" | "announced" | "lost";

/**
 * The guardian process of a hold after a loss. `first`: the one that was started with the run. `replacing`: it has ended, and
 * another one gets ready: nobody else is held until then. `second`: that one is ready, and is the last one.
 */
export type GuardPhase = "first" | "replacing" | "second";

/** How far a route is. A route that cannot be read is `waited` for instead. */
export interface RouteState {
  readonly phase: "changing" | "verified" | "waited";
  /** What was missing last; `null` if nothing was tried. */
  readonly problem: string | null;
}

/** A state in which something may be paused. All times are in ms of rolecall's clock. */
interface Holding {
  readonly targets: readonly TargetPhase[];
  /** What was last in the way of each target; `null` if nothing was. */
  readonly problems: readonly (string | null)[];
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
  /** The peers are asked for the right to run: one run of a cluster at a time. */
  | { readonly kind: "claiming"; readonly untilMs: number }
  /** The intent, the guardian and the peers are waited for. */
  | { readonly kind: "arming"; readonly untilMs: number; readonly waitsFor: readonly string[] }
  /** Each PAUSE is waited for, and then read back. */
  | (Holding & { readonly kind: "pausing"; readonly untilMs: number })
  /** All clients are held. Whoever would finish the run hears that the switchover is requested next. */
  | (Holding & { readonly kind: "telling"; readonly untilMs: number; readonly waitsFor: readonly string[] })
  /** The switchover was requested or announced; a new primary is waited for. */
  | (Holding & {
      readonly kind: "switching";
      readonly request: RequestPhase;
      /** The primary that was last seen. */
      readonly primary: string | null;
      /** Since when the old leader is the primary and nothing is pending in the DCS; `null`: it is not. */
      readonly quietSinceMs: number | null;
      /** After a loss: until when poolers may begin to refuse clients although the leader is back; `null` for other runs. */
      readonly lookUntilMs: number | null;
      /** After a loss: who finishes the run if this process cannot; `null` for other runs. */
      readonly guard: GuardPhase | null;
      /** When RESUME is repeated of poolers that somebody else has let go, or that could not be held. */
      readonly repeatAtMs: number;
    })
  /** A new primary takes writes. Each target is resumed as soon as its own routes lead there. */
  | (Holding & {
      readonly kind: "routing";
      readonly node: string;
      readonly routes: readonly RouteState[];
      readonly repeatAtMs: number;
    })
  /** Every RESUME was sent, and is repeated until its effect is seen, up to `untilMs`. */
  | (Holding & {
      readonly kind: "resuming";
      readonly outcome: SettledOutcome;
      /** Where the new primary is; empty without one. */
      readonly routes: readonly RouteState[];
      readonly sinceMs: number;
      readonly untilMs: number;
      readonly repeatAtMs: number;
    })
  /** Clients go on without a primary. One that appears gets the routes. */
  | (Holding & { readonly kind: "following"; readonly untilMs: number; readonly outcome: SettledOutcome })
  | { readonly kind: "ended"; readonly outcome: Outcome };
