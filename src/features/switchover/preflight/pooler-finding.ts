/** What a finding about a pooler is about. */
export type PoolerFindingKind =
  | "access"
  | "processes"
  | "already_paused"
  | "database"
  | "route"
  | "unlisted"
  | "pool_mode"
  | "version"
  | "login_retry"
  | "wait_timeout";

/** What keeps a seamless switchover from holding the clients of a pooler, or lets them wait or fail. */
export interface PoolerFinding {
  readonly kind: PoolerFindingKind;
  /** `error`: a seamless switchover is refused. `warning`: it runs, but some clients may notice it. */
  readonly level: "error" | "warning";
  /** The pooler, or `pooler/database`. */
  readonly subject: string;
  /** A sentence about the subject, without it. */
  readonly text: string;
  /** What to do. */
  readonly hint: string;
}
