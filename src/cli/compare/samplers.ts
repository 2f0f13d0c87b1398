import type { Config } from "../../config/model/config.ts";
import { readTls, type TlsMaterial } from "../../config/tls-material.ts";
import { NodeClient } from "../../probe/client/client.ts";
import type { StatusCluster } from "../client/cluster-status.ts";

/** One node that is compared. */
export interface Sampler {
  /** `demo/pg1` */
  readonly name: string;
  /** Where rolecall is asked of this node. */
  readonly base: string;
  readonly client: NodeClient;
}

interface Kept extends Sampler {
  readonly cluster: string;
  readonly api: string;
}

/** Nodes that come and go under new names would make the report longer and longer: no more than this many are compared. */
const namesMax = 2_000;

/** The nodes that are compared, as the member list has them. */
export class Samplers {
  readonly #config: Config;
  readonly #askers = new Map<string, Kept>();
  /** Names of all nodes that were ever compared. */
  readonly #names = new Set<string>();
  readonly #tls = new Map<string, TlsMaterial | null>();

  constructor(config: Config) {
    this.#config = config;
  }

  get all(): readonly Sampler[] {
    return [...this.#askers.values()];
  }

  /** How many nodes there were, those that left among them. */
  get size(): number {
    return this.#names.size;
  }

  /** Takes the members as they are now. A cluster of which nobody told keeps those it had. Nobody may be asking meanwhile. */
  follow(clusters: readonly StatusCluster[]): void {
    for (const { cluster, nodes } of clusters) {
      if (nodes.length === 0) continue;
      // A node that is known by its exporter alone has nothing to compare with.
      const wanted = new Map(
        nodes.flatMap(({ node, api }) => (api === null ? [] : [[`${cluster}/${node}`, { node, api }]])),
      );
      for (const [name, asker] of this.#askers) {
        if (asker.cluster !== cluster || wanted.get(name)?.api === asker.api) continue;
        asker.client.close();
        this.#askers.delete(name);
      }
      for (const [name, { node, api }] of wanted) if (!this.#askers.has(name)) this.#add(name, { cluster, node, api });
    }
  }

  close(): void {
    for (const { client } of this.#askers.values()) client.close();
  }

  #add(
    name: string,
    { cluster, node, api }: { readonly cluster: string; readonly node: string; readonly api: string },
  ): void {
    if (this.#names.size >= namesMax && !this.#names.has(name)) return;
    const { probe } = this.#config;
    const tls = this.#tlsOf(cluster);
    const base = `/clusters/${encodeURIComponent(cluster)}/nodes/${encodeURIComponent(node)}`;
    const client = new NodeClient(api, { connectTimeoutMs: probe.connectTimeoutMs, timeoutMs: probe.timeoutMs }, tls);
    this.#askers.set(name, { name, cluster, api, base, client });
    this.#names.add(name);
  }

  /** Read once: a file that is away for a moment, days later, must not end the comparison. */
  #tlsOf(cluster: string): TlsMaterial | null {
    const known = this.#tls.get(cluster);
    if (known !== undefined) return known;
    const files = this.#config.clusters.find(({ name }) => name === cluster)?.tls ?? null;
    const tls = files === null ? null : readTls(files);
    this.#tls.set(cluster, tls);
    return tls;
  }
}
