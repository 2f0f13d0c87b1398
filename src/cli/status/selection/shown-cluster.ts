import type { StatusCluster, StatusNode } from "../../../core/command/client/cluster-status.ts";

/** A cluster as it is shown: perhaps without some of its nodes. */
export interface ShownCluster {
  readonly cluster: StatusCluster;
  /** The number of nodes of the whole cluster that are fit for their role. */
  readonly fitNodes: number;
  /** The nodes to show, in order. */
  readonly nodes: readonly StatusNode[];
}
