import type { AskedNonMember } from "../../health/documents/asked-nodes.ts";
import type { ClusterOverview, NodeOverview } from "../../health/documents/overview.ts";

/**
 * A node of `/status`. Reasons are plain strings: a newer rolecall may send reasons that this version does not know.
 */
export interface StatusNode extends Omit<NodeOverview, "verdicts" | "reason"> {
  readonly verdicts: { readonly [route: string]: string };
  readonly reason: string | null;
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

export interface StatusCluster extends Omit<ClusterOverview, "nodes"> {
  /** Names that are no members, and that checks still ask for. */
  readonly asked_non_members?: readonly AskedNonMember[];
  readonly nodes: readonly StatusNode[];
}

/** The status of all clusters, and its source. */
export interface ClusterStatus {
  /** The URL of the server, or `probed here`. */
  readonly by: string;
  readonly clusters: readonly StatusCluster[];
}
