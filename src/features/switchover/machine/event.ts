/** What happens to a switchover. Targets, routes and peers are positions in the lists of the plan. */
export type SwitchoverEvent =
  /** Time passes. */
  | { readonly kind: "tick" }
  | { readonly kind: "checked"; readonly refusal: string | null }
  /** Whether this run is the only one of its cluster. */
  | { readonly kind: "claimed"; readonly refusal: string | null }
  /** `intent`, `guardian` or the name of a peer. */
  | { readonly kind: "armed"; readonly part: string }
  | { readonly kind: "not_armed"; readonly part: string; readonly problem: string }
  /** A part knows that the switchover is requested next, or it cannot be told. */
  | { readonly kind: "told"; readonly part: string; readonly problem: string | null }
  /** A pooler has no server for waiting clients, and refuses them: they are held from now on. */
  | { readonly kind: "unserved"; readonly target: number }
  | { readonly kind: "pause_answered"; readonly target: number }
  /** The process that has begun the run is gone, and has not paused the target: it is looked at from now on. */
  | { readonly kind: "not_held"; readonly target: number }
  /** PAUSE was sent, and failed or was not answered in time. */
  | { readonly kind: "pause_failed"; readonly target: number; readonly problem: string }
  /** PAUSE was not sent: somebody else has paused the database, or the console cannot be reached. */
  | { readonly kind: "pause_withheld"; readonly target: number; readonly problem: string }
  /** What `SHOW DATABASES` says. */
  | { readonly kind: "paused_read"; readonly target: number; readonly isPaused: boolean }
  /** Somebody else has sent RESUME while the clients were held. */
  | { readonly kind: "resumed_elsewhere"; readonly target: number }
  /** The consoles of a pooler are lost. */
  | { readonly kind: "console_lost"; readonly target: number }
  /** A pooler refuses connections to its console. */
  | { readonly kind: "console_refused"; readonly target: number; readonly problem: string }
  /** The console of a pooler that was lost is back, and the database is paused as before. */
  | { readonly kind: "console_back"; readonly target: number }
  /** A pooler runs again, and is not paused. */
  | { readonly kind: "restarted"; readonly target: number }
  /** The cluster, or the gateway before it, answered the request. */
  | { readonly kind: "answered"; readonly result: RequestResult }
  /**
   * The node that rolecall says yes to for `/primary`, and whether a failover is pending in the DCS. Of the restart of a replica:
   * that replica, if it runs.
   */
  | { readonly kind: "primary"; readonly node: string | null; readonly pending: Pending }
  | { readonly kind: "routed"; readonly route: number; readonly by: "verified" | "waited" }
  | { readonly kind: "not_routed"; readonly route: number; readonly problem: string }
  | { readonly kind: "resumed"; readonly target: number }
  | { readonly kind: "not_resumed"; readonly target: number; readonly problem: string; readonly isRefused: boolean }
  | { readonly kind: "closed"; readonly target: number }
  /** Another process has resumed the target: it is no business of this run any more. */
  | { readonly kind: "let_go"; readonly target: number }
  /** A peer answered a heartbeat. */
  | { readonly kind: "echo"; readonly peer: number }
  /** The guardian process has ended, or has taken over. */
  | { readonly kind: "guardian_lost"; readonly why: string; readonly hasTakenOver: boolean }
  /** A peer has taken over, and finishes the run. */
  | { readonly kind: "fenced"; readonly by: string }
  /** An operator wants everything to be resumed at once. */
  | { readonly kind: "give_up"; readonly reason: string }
  /** The process stops. */
  | { readonly kind: "stop"; readonly reason: string };

/**
 * Whether a failover is pending: the key `failover` in the DCS. `unknown` without a watch of the DCS. Of a restart: `no` while
 * the node runs as before, `yes` while it stops or starts, `done` once it has been restarted, and `unknown` if it is silent.
 */
export type Pending = "no" | "yes" | "unknown" | "done";

/** What came of the request. `withheld`: it was too late, and it was not sent. `unknown`: an error of the server, or no answer. */
export type RequestResult =
  | { readonly kind: "withheld" }
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly status: number; readonly reason: string }
  | { readonly kind: "unknown"; readonly reason: string };
