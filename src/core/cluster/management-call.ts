/** The calls that change a cluster. */
export type CallName = "config" | "switchover" | "failover" | "restart" | "reload" | "reinitialize";

/** The rules for one kind of call. */
export interface CallRule {
  readonly methods: readonly string[];
  /** `any`: any node can do it, the leader is preferred. `node`: only the named node can. */
  readonly to: "any" | "node";
  /** The methods that may change roles. */
  readonly roleChangingMethods: readonly string[];
}

/** The rules of every call, by name. */
export const callRules: ReadonlyMap<CallName, CallRule> = new Map<CallName, CallRule>([
  ["config", { methods: ["PATCH", "PUT"], to: "any", roleChangingMethods: ["PATCH", "PUT"] }],
  ["switchover", { methods: ["POST", "DELETE"], to: "any", roleChangingMethods: ["POST"] }],
  ["failover", { methods: ["POST"], to: "any", roleChangingMethods: ["POST"] }],
  ["restart", { methods: ["POST", "DELETE"], to: "node", roleChangingMethods: ["POST"] }],
  ["reload", { methods: ["POST"], to: "node", roleChangingMethods: [] }],
  ["reinitialize", { methods: ["POST"], to: "node", roleChangingMethods: ["POST"] }],
]);

/** A parsed management call: what to do to which cluster, at which node if one was named. */
export interface ManagementCall {
  readonly name: CallName;
  readonly method: string;
  readonly cluster: string;
  readonly node: string | null;
  /** `?dry_run=1`: only report what would happen. */
  readonly isDryRun: boolean;
}

/** A read-only request that only the node itself can answer. */
export interface NodeRequest {
  readonly cluster: string;
  readonly node: string | null;
  readonly target: "api" | "exporter";
  /** Path and query at the node: `/metrics`. */
  readonly path: string;
}

/** Returns the call with this name; `undefined` if there is none. */
export function callNamed(name: string): CallName | undefined {
  for (const known of callRules.keys()) if (known === name) return known;
  return undefined;
}

/** A call that makes another node the primary of a cluster now. */
export interface CalledChange {
  readonly cluster: string;
  readonly call: "switchover" | "failover";
  /** The nodes that the call names; `null` if it names none. */
  readonly from: string | null;
  readonly to: string | null;
  /** Who called, as authentication found; `null` without it. */
  readonly by: string | null;
}

/**
 * The answer of a node; or what failed, and whether the node may have executed the call nevertheless. `withheld`: it was
 * not to be sent any more when the connection was open, and was not.
 */
export type OwnCallAnswer =
  | { readonly status: number; readonly text: string }
  | { readonly problem: string; readonly mayBeExecuted: boolean }
  | { readonly withheld: true };
