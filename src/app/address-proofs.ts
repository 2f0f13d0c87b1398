import type { Node } from "../core/cluster/node.ts";
import type { ClusterConfig, Config } from "../core/config/model/config.ts";
import { type LocalProbing, probeOnce } from "./machine/probe-once.ts";
import { localNodeFinders } from "./registry/node-finders.ts";
import { featureProbes } from "./registry/node-probes.ts";
import type { ProbedClusters } from "../core/command/client/probed-clusters.ts";

/** What proofs depend on. */
export interface AddressProofsContext {
  readonly config: () => Config;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
}

/** What the servers of a cluster themselves have said: node -> its address. */
interface Proved {
  readonly atMs: number;
  readonly addresses: ReadonlyMap<string, string>;
}

/** How long an address that has proved itself here counts, in ms: a call is often sent right after its dry run. */
const keptMs = 10_000;

const localProbing: LocalProbing = { find: featureProbes, finders: localNodeFinders, onTlsProblem: () => {} };

/** How addresses are proved, and when enough is known. */
interface Proving {
  readonly config: Config;
  readonly isEnough: (probed: ProbedClusters) => boolean;
}

/**
 * Tells whether the address of a node is its own by what this instance itself knows. What another instance says of
 * addresses and their proof is a hint: with it a password would go wherever that instance, or who has taken it over,
 * wants. Therefore a node of a cluster of which another instance has ever told something proves its address here before
 * a call is passed to it: all servers of the cluster are asked, without credentials, as at a start (rule 10). Where the
 * configuration gives the node its address, nobody is asked.
 */
export class AddressProofs {
  readonly #context: AddressProofsContext;
  readonly #heard = new Set<string>();
  readonly #proved = new Map<string, Proved>();
  readonly #running = new Map<string, Promise<Proved>>();

  constructor(context: AddressProofsContext) {
    this.#context = context;
  }

  /** The clusters of which another instance has sent evidence, in this run or before. */
  get heard(): readonly string[] {
    return [...this.#heard];
  }

  /** Records that another instance has sent evidence of a cluster. The state file keeps that with the evidence. */
  hear(cluster: string): void {
    this.#heard.add(cluster);
  }

  /** Whether the address is the node's own. Never rejects. Takes a few timeouts of a probe at most. */
  async isOwn(cluster: string, { name, api }: Node): Promise<boolean> {
    if (!this.#heard.has(cluster)) return true;
    const config = this.#context.config();
    const known = config.clusters.find((each) => each.name === cluster);
    if (known === undefined || api === null) return false;
    if (known.nodes.some((node) => node.name === name && node.api === api)) return true;
    const kept = this.#proved.get(cluster);
    const isKept = kept !== undefined && this.#context.now() - kept.atMs < keptMs;
    if (isKept && kept.addresses.get(name) === api) return true;
    const { addresses } = await this.#prove(known, {
      config,
      isEnough: (probed) => addressIn(probed, cluster, name) === api,
    });
    return addresses.get(name) === api;
  }

  /** Callers that come meanwhile share a run. */
  #prove(cluster: ClusterConfig, how: Proving): Promise<Proved> {
    const { name } = cluster;
    const running = this.#running.get(name) ?? this.#run(cluster, how).finally(() => this.#running.delete(name));
    this.#running.set(name, running);
    return running;
  }

  async #run(cluster: ClusterConfig, { config, isEnough }: Proving): Promise<Proved> {
    const watch = {
      forMs: 2 * config.probe.timeoutMs,
      isDone: isEnough,
      signal: new AbortController().signal,
      onProgress: () => {},
    };
    const probed = await probeOnce({ ...config, clusters: [cluster] }, localProbing, watch).catch(() => null);
    const nodes = probed?.cluster(cluster.name)?.nodes ?? [];
    const addresses = new Map(
      nodes.flatMap(({ node, proof }) =>
        proof === "none" || node.api === null ? [] : [[node.name, node.api] as const],
      ),
    );
    const proved = { atMs: this.#context.now(), addresses };
    this.#proved.set(cluster.name, proved);
    return proved;
  }
}

function addressIn(probed: ProbedClusters, cluster: string, name: string): string | null {
  const known = probed.cluster(cluster)?.nodes.find(({ node }) => node.name === name);
  return known === undefined || known.proof === "none" ? null : known.node.api;
}
