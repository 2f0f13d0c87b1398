/**
 * A finished management call: who sent it, from where, to which node, and how it ended. Holds no body and no
 * credential.
 */
export interface AuditRecord {
  readonly who: string | null;
  readonly from: string;
  readonly method: string;
  readonly call: string;
  readonly cluster: string;
  /** The node that received the call; `null` if none did. */
  readonly node: string | null;
  readonly status: number;
  readonly durationMs: number;
  readonly requestId: string;
  /** `passed` to a node, `refused` by rolecall, or only `tried` (`dry_run`). */
  readonly outcome: "passed" | "refused" | "tried";
  /** The code of the refusal, or what failed while the call was forwarded; `null` if nothing did. */
  readonly problem: string | null;
}
