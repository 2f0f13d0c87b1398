/** The calls that change a cluster (seeds/node-api.md, "Dynamic configuration" to "Restart, reload, reinitialize"). */
export type CallName = "config" | "switchover" | "failover" | "restart" | "reload" | "reinitialize";

/** What is known of a call by its name. */
export interface CallRule {
  readonly methods: readonly string[];
  /** Whether any node of the cluster can do it, the leader first, or only the one that is named. */
  readonly to: "leader" | "node";
  /** Methods after which roles may be others. */
  readonly changesRoles: readonly string[];
}

/** Every call, by name. */
export const callRules: ReadonlyMap<CallName, CallRule> = new Map<CallName, CallRule>([
  ["config", { methods: ["PATCH", "PUT"], to: "leader", changesRoles: ["PATCH", "PUT"] }],
  ["switchover", { methods: ["POST", "DELETE"], to: "leader", changesRoles: ["POST"] }],
  ["failover", { methods: ["POST"], to: "leader", changesRoles: ["POST"] }],
  ["restart", { methods: ["POST", "DELETE"], to: "node", changesRoles: ["POST"] }],
  ["reload", { methods: ["POST"], to: "node", changesRoles: [] }],
  ["reinitialize", { methods: ["POST"], to: "node", changesRoles: ["POST"] }],
]);

/** A management call, understood: what is to be done to which cluster, by which node where one was named. */
export interface ManagementCall {
  readonly name: CallName;
  readonly method: string;
  readonly cluster: string;
  readonly node: string | null;
  /** `?dry_run=1`: only tell what would happen. */
  readonly isDryRun: boolean;
}

/** A question that only the node itself can answer. */
export interface NodeQuestion {
  readonly cluster: string;
  readonly node: string | null;
  readonly of: "api" | "exporter";
  /** Path and query at the node: `/metrics`. */
  readonly path: string;
}

/** The name of a call that a path asks for; `undefined` where it asks for none. */
export function callNamed(path: string): CallName | undefined {
  for (const name of callRules.keys()) if (name === path) return name;
  return undefined;
}
