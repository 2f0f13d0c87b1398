/** The calls that change a cluster. */
export type CallName = "config" | "switchover" | "failover" | "restart" | "reload" | "reinitialize";

/** The rules for one kind of call. */
export interface CallRule {
  readonly methods: readonly string[];
  /** `leader`: any node can do it, the leader is preferred. `node`: only the named node can. */
  readonly to: "leader" | "node";
  /** The methods that may change roles. */
  readonly changesRoles: readonly string[];
}

/** The rules of every call, by name. */
export const callRules: ReadonlyMap<CallName, CallRule> = new Map<CallName, CallRule>([
  ["config", { methods: ["PATCH", "PUT"], to: "leader", changesRoles: ["PATCH", "PUT"] }],
  ["switchover", { methods: ["POST", "DELETE"], to: "leader", changesRoles: ["POST"] }],
  ["failover", { methods: ["POST"], to: "leader", changesRoles: ["POST"] }],
  ["restart", { methods: ["POST", "DELETE"], to: "node", changesRoles: ["POST"] }],
  ["reload", { methods: ["POST"], to: "node", changesRoles: [] }],
  ["reinitialize", { methods: ["POST"], to: "node", changesRoles: ["POST"] }],
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
export function callNamed(path: string): CallName | undefined {
  for (const name of callRules.keys()) if (name === path) return name;
  return undefined;
}
