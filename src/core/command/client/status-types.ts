import type { JsonObject } from "../../cluster/values/json.ts";
import type { RefusedCheck } from "../../health/rules/asked-checks.ts";
import type { AskedNonMember } from "../../health/documents/asked-nodes.ts";
import type { NodeOverview } from "../../health/documents/node-overview.ts";
import type { ClusterOverview } from "../../health/documents/overview.ts";
import type { Situation } from "../../health/documents/situation.ts";
import type { ConfigOverview } from "../../http/diagnostics/config-overview.ts";

/**
 * A node of `/status`. Reasons and conditions are plain strings: a newer rolecall may send some that this version does
 * not know.
 */
export interface StatusNode extends Omit<NodeOverview, "verdicts" | "reason" | "refused" | "condition"> {
  readonly verdicts: { readonly [route: string]: string };
  readonly reason: string | null;
  readonly refused: readonly (Omit<RefusedCheck, "reason"> & { readonly reason: string })[];
  /** One of `nodeConditions`; `unknown` if the server is of a version that does not state it. */
  readonly condition: string;
  /**
   * Whether it is known that the node is attached: `known`, or `not known` if this process has not watched it for long
   * enough. `null` if nothing depends on it, or a running rolecall gave the status.
   */
  readonly attachment?: "known" | "not known" | null;
  /** How long ago a check asked a running rolecall for it; `null` if none did, or nobody knows. */
  readonly asked_ms_ago?: number | null;
  /** Whether balancers ask for other members, and not for it. */
  readonly unasked?: boolean;
}

export interface StatusCluster extends Omit<ClusterOverview, "nodes" | "situation"> {
  /** Names that are no members, and that checks still ask for. */
  readonly asked_non_members?: readonly AskedNonMember[];
  /** Where balancers and poolers send clients elsewhere than they should, as sentences. */
  readonly routes?: readonly string[];
  /** The poolers that lead to it and do not answer. Default: none is known */
  readonly poolers?: readonly string[];
  /** What canaries tried, as `/status` has it (docs/canaries.md). */
  readonly canaries?: readonly JsonObject[];
  /** The Services of Kubernetes that lead to it, as `/status` has them (docs/kubernetes-services.md). */
  readonly services?: readonly JsonObject[];
  readonly nodes: readonly StatusNode[];
  readonly situation: StatusSituation;
}

/** The situation of a cluster, whose condition is `unknown` if the server is of a version that does not state it. */
export interface StatusSituation extends Omit<Situation, "condition"> {
  readonly condition: string;
}

/** The status of all clusters, and its source. */
export interface ClusterStatus {
  /** The URL of the server, or `probed here`. */
  readonly by: string;
  /** `null` if the server does not say, or if this command probes itself. */
  readonly config: ConfigOverview | null;
  readonly clusters: readonly StatusCluster[];
}
