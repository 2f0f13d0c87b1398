/** One management call, when it is over: who did what, from where, to which node, and how it ended. Holds no body and no credential. */
export interface AuditRecord {
  readonly who: string | null;
  readonly from: string;
  readonly method: string;
  readonly call: string;
  readonly cluster: string;
  /** The node it went to; `null` where it went nowhere. */
  readonly node: string | null;
  readonly status: number;
  readonly durationMs: number;
  readonly requestId: string;
  /** `passed` to a node, `refused` by us, or only `tried` (`dry_run`). */
  readonly outcome: "passed" | "refused" | "tried";
  /** The refusal's word, or what went wrong on the way; `null` where nothing did. */
  readonly problem: string | null;
}
