import type { StatusCluster } from "../../client/cluster-status.ts";
import { lagSamplesMax } from "../table/columns.ts";

/** The recent lags of all nodes, for a sparkline of each. */
export class LagSamples {
  #samples = new Map<string, readonly (number | null)[]>();

  /** Adds the lag of each node. Forgets the nodes that are gone. */
  add(clusters: readonly StatusCluster[]): void {
    const next = new Map<string, readonly (number | null)[]>();
    for (const { cluster, nodes } of clusters) {
      for (const { node, lag_bytes: lag } of nodes) {
        const key = `${cluster}/${node}`;
        next.set(key, [...(this.#samples.get(key) ?? []), lag].slice(-lagSamplesMax));
      }
    }
    this.#samples = next;
  }

  /** The lags of a node in bytes, oldest first; `null` where the lag was unknown. */
  of(cluster: string, node: string): readonly (number | null)[] {
    return this.#samples.get(`${cluster}/${node}`) ?? [];
  }
}
