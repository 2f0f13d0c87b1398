import type { Cluster } from "../model/cluster.ts";
import type { SimulatedNode } from "../model/node.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** The node whose API answers a request, its cluster, and the names that its documents use. */
export interface NodeContext {
  readonly cluster: Cluster;
  readonly node: SimulatedNode;
  readonly vocabulary: Vocabulary;
}
