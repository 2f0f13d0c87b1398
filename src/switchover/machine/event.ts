/** What happens to a switchover. Targets, routes and peers are positions in the lists of the plan. */
export type SwitchoverEvent =
  /** Time passes. */
  | { readonly kind: "tick" }
  | { readonly kind: "checked"; readonly refusal: string | null }
  /** `intent`, `guardian` or the name of a peer. */
  | { readonly kind: "armed"; readonly part: string }
  | { readonly kind: "not_armed"; readonly part: string; readonly problem: string }
  | { readonly kind: "pause_answered"; readonly target: number }
  /** PAUSE was sent, and failed or was not answered in time. */
  | { readonly kind: "pause_failed"; readonly target: number; readonly problem: string }
  /** PAUSE was not sent: somebody else has paused the database, or the console cannot be reached. */
  | { readonly kind: "pause_withheld"; readonly target: number; readonly problem: string }
  /** What `SHOW DATABASES` says. */
  | { readonly kind: "paused_read"; readonly target: number; readonly isPaused: boolean }
  /** The consoles of a pooler are lost. */
  | { readonly kind: "console_lost"; readonly target: number }
  /** A pooler runs again, and is not paused. */
  | { readonly kind: "restarted"; readonly target: number }
  /** The cluster, or the gateway before it, answered the request. */
  | { readonly kind: "answered"; readonly result: RequestResult }
  /** The node that rolecall says yes to for `/primary`, and whether a failover is pending in the DCS. */
  | { readonly kind: "primary"; readonly node: string | null; readonly pending: Pending }
  | { readonly kind: "routed"; readonly route: number; readonly by: "verified" | "waited" }
  | { readonly kind: "resumed"; readonly target: number }
  | { readonly kind: "closed"; readonly target: number }
  /** A peer answered a heartbeat. */
  | { readonly kind: "echo"; readonly peer: number }
  | { readonly kind: "guardian_lost" }
  /** A peer has taken over, and resumes everything. */
  | { readonly kind: "fenced"; readonly by: string }
  /** The process stops, or an operator gives up. */
  | { readonly kind: "stop"; readonly reason: string };

/** Whether a failover is pending: the key `failover` in the DCS. `unknown` without a watch of the DCS. */
export type Pending = "no" | "yes" | "unknown";

/** What came of the request. `unknown`: an error of the server, or no answer. */
export type RequestResult =
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly status: number; readonly reason: string }
  | { readonly kind: "unknown"; readonly reason: string };
