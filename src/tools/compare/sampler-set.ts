import type { Config } from "../../core/config/model/config.ts";
import { readTls, serverNamesOf, tlsTo, type TlsMaterial } from "../../core/config/tls-material.ts";
import { NodeClient } from "../../core/probe/client/client.ts";
import type { StatusCluster } from "../../core/command/client/cluster-status.ts";

/** A node that is compared. */
export interface Sampler {
  /** `demo/pg1` */
  readonly name: string;
  /** The path of this node at rolecall. */
  readonly base: string;
  readonly client: NodeClient;
}

interface ClusterSampler extends Sampler {
  readonly cluster: string;
  readonly api: string;
}

/** The maximum number of nodes in a comparison. It bounds the report if nodes keep joining under new names. */
const namesMax = 2_000;

/** The nodes that are compared. Follows the member lists. */
export class SamplerSet {
  readonly #config: Config;
  readonly #samplers = new Map<string, ClusterSampler>();
  /** The names of all nodes that have been compared. */
  readonly #names = new Set<string>();
  readonly #tls = new Map<string, TlsMaterial | null>();

  constructor(config: Config) {
    this.#config = config;
  }

  get all(): readonly Sampler[] {
    return [...this.#samplers.values()];
  }

  /** The number of nodes so far, including those that have left. */
  get size(): number {
    return this.#names.size;
  }

  /**
   * Updates the nodes from the member lists. A cluster with an empty list keeps its nodes. No sample may be in
   * progress.
   */
  update(clusters: readonly StatusCluster[]): void {
    for (const { cluster, nodes } of clusters) {
      if (nodes.length === 0) continue;
      // A node that is known only by its exporter has no API to compare with.
      const members = new Map(
        nodes.flatMap(({ node, api }) => (api === null ? [] : [[`${cluster}/${node}`, { node, api }]])),
      );
      for (const [name, sampler] of this.#samplers) {
        if (sampler.cluster !== cluster || members.get(name)?.api === sampler.api) continue;
        sampler.client.close();
        this.#samplers.delete(name);
      }
      for (const [name, { node, api }] of members)
        if (!this.#samplers.has(name)) this.#add(name, { cluster, node, api });
    }
  }

  close(): void {
    for (const { client } of this.#samplers.values()) client.close();
  }

  #add(
    name: string,
    { cluster, node, api }: { readonly cluster: string; readonly node: string; readonly api: string },
  ): void {
    if (this.#names.size >= namesMax && !this.#names.has(name)) return;
    const { probe } = this.#config;
    const tls = this.#tlsOf(cluster, api);
    const base = `/clusters/${encodeURIComponent(cluster)}/nodes/${encodeURIComponent(node)}`;
    const client = new NodeClient(api, { connectTimeoutMs: probe.connectTimeoutMs, timeoutMs: probe.timeoutMs }, tls);
    this.#samplers.set(name, { name, cluster, api, base, client });
    this.#names.add(name);
  }

  /** Reads TLS files once: a file that is missing for a moment days later must not end the comparison. */
  #tlsOf(cluster: string, api: string): TlsMaterial | null {
    const configured = this.#config.clusters.find(({ name }) => name === cluster);
    if (configured === undefined) return null;
    const { tls: files } = configured;
    const tls = this.#tls.get(cluster) ?? (files === null ? null : readTls(files));
    this.#tls.set(cluster, tls);
    return tlsTo(api, tls, serverNamesOf(configured));
  }
}
