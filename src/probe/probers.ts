import type { ClusterState } from "../cluster/snapshot.ts";
import type { ClusterConfig, Config } from "../config/model/config.ts";
import { NodeClient } from "./client/client.ts";
import { ClusterProber } from "./cluster-prober.ts";
import type { ProbeSchedule, ProbeContext } from "./client/probe-context.ts";
import { readTls, tlsPathsOf, type TlsMaterial } from "../config/tls-material.ts";
import { WatchedFiles } from "../config/watched-files.ts";

/** What every cluster's probing is made with; the app hands it in. */
export interface ProbersContext extends Pick<ProbeContext, "record" | "now" | "wall" | "random" | "onProbeFinished"> {
  readonly cluster: (cluster: string) => ClusterState | undefined;
  readonly policy: (cluster: string) => ProbeContext["policy"] | undefined;
  readonly onTls: (cluster: string, problem: string | null) => void;
}

/** The probers of all clusters. */
export class Probers {
  readonly #context: ProbersContext;
  readonly #clusters = new Map<string, ClusterProber>();
  readonly #tlsFiles: WatchedFiles<TlsMaterial | null>[] = [];

  constructor(context: ProbersContext) {
    this.#context = context;
  }

  /**
   * Starts probing every cluster of a configuration, in place of those probed so far. Evidence is the store's and stays.
   * @returns when the first round is done, or after one timeout
   */
  async start(config: Config, livenessEvery: number): Promise<void> {
    this.stop();
    const { intervalMs, clusterIntervalMs, configIntervalMs, metricsIntervalMs, timeoutMs, fall } = config.probe;
    const pace = {
      intervalMs,
      livenessIntervalMs: livenessEvery * intervalMs,
      clusterIntervalMs,
      configIntervalMs,
      metricsIntervalMs,
      timeoutMs,
      fall,
    };
    const probers = config.clusters.flatMap((cluster) => this.#prober(cluster, config, pace) ?? []);
    await Promise.all(probers.map((prober) => prober.start()));
  }

  /** To be told of every change of a part. */
  onChange(before: ClusterState, after: ClusterState): void {
    this.#clusters.get(after.name)?.follow(before, after);
  }

  /** Asks every node of every cluster now: all evidence may be older than it looks (design.md, rule 1). */
  probeAll(): void {
    for (const prober of this.#clusters.values()) prober.roundAtOnce();
  }

  /** Asks every node of one cluster now: what was done to it shows sooner. */
  probeCluster(cluster: string): void {
    this.#clusters.get(cluster)?.roundAtOnce();
  }

  stop(): void {
    for (const files of this.#tlsFiles.splice(0)) files.close();
    for (const prober of this.#clusters.values()) prober.stop();
    this.#clusters.clear();
  }

  #prober(cluster: ClusterConfig, { probe }: Config, schedule: ProbeSchedule): ClusterProber | undefined {
    const { cluster: state, policy: healthPolicy, ...rest } = this.#context;
    const policy = healthPolicy(cluster.name);
    if (policy === undefined) return undefined;
    const limits = { connectTimeoutMs: probe.connectTimeoutMs, timeoutMs: probe.timeoutMs };
    const { tls: paths } = cluster;
    const files = new WatchedFiles(tlsPathsOf(paths), () => (paths === null ? null : readTls(paths)), {
      // Connections go on with what was read last, or fail and say why.
      onProblem: (problem) => this.#context.onTls(cluster.name, problem),
      onChange: (renewed) => {
        tls = renewed;
        prober.reconnect();
        this.#context.onTls(cluster.name, null);
      },
    });
    let tls = files.read();
    const prober = new ClusterProber(
      {
        ...rest,
        cluster: cluster.name,
        schedule,
        policy,
        state: () => requirePart(state(cluster.name), cluster.name),
        connect: (origin) => new NodeClient(origin, limits, tls),
      },
      cluster.discover,
    );
    this.#clusters.set(cluster.name, prober);
    files.start();
    this.#tlsFiles.push(files);
    return prober;
  }
}

function requirePart(state: ClusterState | undefined, cluster: string): ClusterState {
  if (state === undefined) throw new Error(`Cannot probe cluster ${cluster} as it must be tended: it is not`);
  return state;
}
