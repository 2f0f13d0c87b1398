import type { HintEffect } from "../cluster/hint.ts";
import type { StatusOutcome } from "../cluster/outcome.ts";
import { isOwnFailure } from "../cluster/values/failure.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { ClusterConfig, Config } from "../config/model/config.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import type { ClientLimits, NodeConnection } from "./client/client.ts";
import { ClusterProber, type ProcessPause } from "./cluster-prober.ts";
import { ByteBudget, clusterLimits, totalLimits } from "./client/byte-budget.ts";
import type { ProbeBringer, ProbedCluster, ProbeSchedule, ProbeContext } from "./client/probe-context.ts";
import { type SeedTurn, FoundConnection, isPlainAddress, type NodeFinder } from "./client/node-finder.ts";
import { SharedClients } from "./client/shared-clients.ts";
import { ParseBudget } from "./parse/parse-budget.ts";
import type { AnswerTurns } from "./schedule/answer-turns.ts";
import { LoopLateness } from "./schedule/loop-lateness.ts";
import { Pace } from "./schedule/pace.ts";
import { setSystemTimer } from "./schedule/system-timer.ts";
import { StatusRequests } from "./status-requests.ts";
import {
  readTls,
  type ServerNames,
  serverNamesOf,
  tlsPathsOf,
  tlsTo,
  type TlsMaterial,
} from "../config/tls-material.ts";
import { WatchedFiles } from "../config/watched-files.ts";

/** Creates a client for an API base address. It sends nothing yet. */
export type ConnectToNode = (origin: string, limits: ClientLimits, tls: TlsMaterial | null) => NodeConnection;

/** What the probers of all clusters depend on, injected by the app. */
export interface ProbersContext extends Pick<
  ProbeContext,
  | "record"
  | "now"
  | "wall"
  | "random"
  | "setTimer"
  | "timerLateMs"
  | "isTlsServer"
  | "onProbeFinished"
  | "onFirstRound"
  | "onBurst"
  | "onBurstProbes"
> {
  readonly connect: ConnectToNode;
  /** What finds the nodes of addresses that are no host and port, now. Default: nothing. */
  readonly finders?: () => readonly NodeFinder[];
  /** Lets the answers of many nodes wait for each other. Default: each is read at once. */
  readonly turns?: AnswerTurns;
  /** What is probed of nodes besides their APIs, now. Default: nothing. */
  readonly brought?: () => readonly ProbeBringer[];
  readonly cluster: (cluster: string) => ClusterState | undefined;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** Called when a cluster's TLS files were read: with `null`, or with the reason why they could not be. */
  readonly onTls: (cluster: string, problem: string | null) => void;
}

/** How many probes may begin outside the schedule at the same time, and how long each counts, in ms. */
const paceLimits = { max: 128, slotMs: 100 } as const;

/** How a cluster is probed. */
interface RunningCluster {
  /** The settings that all its probers share, to compare. */
  readonly shared: string;
  readonly context: ProbeContext;
  readonly files: WatchedFiles<TlsMaterial | null>;
  config: ClusterConfig;
  serverNames: ServerNames;
  tls: TlsMaterial | null;
  /** `null`: it rests. */
  prober: ClusterProber | null;
}

/** The probers of all clusters. */
export class Probers {
  readonly #context: ProbersContext;
  readonly #budget: ByteBudget;
  readonly #pace: Pace;
  readonly #lateness = new LoopLateness();
  #endLateness: (() => void) | null = null;
  #isCatchingUp = false;
  readonly #clusters = new Map<string, RunningCluster>();

  constructor(context: ProbersContext) {
    this.#context = context;
    this.#budget = new ByteBudget(totalLimits, context.now);
    const { setTimer = setSystemTimer, turns } = context;
    this.#pace = new Pace({ ...paceLimits, setTimer, isBehind: () => turns?.isBehind === true });
  }

  /**
   * Probes every cluster of a configuration from now on. Called again, it starts and stops only what the configuration
   * changes: all other nodes keep their connections, their schedule and the probe that is in flight.
   * @param livenessIntervalFactor the number of probe intervals between two liveness probes of a node
   * @param rests whether a cluster rests until {@link begin}, unless it is probed already. Default: none does
   * @returns resolves after the first round of what is new, or after one timeout
   */
  async start(
    config: Config,
    livenessIntervalFactor: number,
    rests: (cluster: ClusterConfig) => boolean = () => false,
  ): Promise<void> {
    this.retain(config.clusters.map(({ name }) => name));
    this.#endLateness ??= this.#lateness.start();
    const schedule = scheduleOf(config.probe, livenessIntervalFactor);
    const { clusters, probe } = config;
    await Promise.all(
      clusters.map((cluster) => this.#startCluster(cluster, { probe, schedule, isResting: rests(cluster) })),
    );
  }

  /** Starts probing a cluster that rests. @returns resolves as {@link start} */
  async begin(cluster: string): Promise<void> {
    const probed = this.#clusters.get(cluster);
    if (probed === undefined || probed.prober !== null) return;
    probed.prober = new ClusterProber(probed.context);
    await probed.prober.start();
  }

  /** Lets a cluster rest: its nodes are not probed. */
  end(cluster: string): void {
    const probed = this.#clusters.get(cluster);
    probed?.prober?.stop();
    if (probed !== undefined) probed.prober = null;
  }

  /** Whether a cluster is probed: it does not rest. */
  isActive(cluster: string): boolean {
    return (this.#clusters.get(cluster)?.prober ?? null) !== null;
  }

  /**
   * Asks one node of a cluster that rests for its status, once.
   * @returns what came of it, which is not recorded; `null` if it could not be asked
   */
  async ask(cluster: string, node: string): Promise<StatusOutcome | null> {
    const context = this.#clusters.get(cluster)?.context;
    const api = context?.state().nodes.find((other) => other.node.name === node)?.node.api ?? null;
    if (context === undefined || api === null) return null;
    const [sentAtMs, sentAtWallMs] = [context.now(), context.wall()];
    const request = new StatusRequests(api, node, context);
    const result = await request.get(sentAtMs);
    request.close();
    if ("failure" in result && isOwnFailure(result.failure)) return null;
    return { kind: "status", cluster, node, sentAtMs, sentAtWallMs, result };
  }

  /** To be called with every change of a cluster's state. */
  onChange(before: ClusterState, after: ClusterState): void {
    this.#clusters.get(after.name)?.prober?.onChange(before, after);
  }

  /**
   * Probes every node of every cluster, as soon as not too many are in flight: after a pause of this machine all evidence
   * may be older than it looks (rule 1). Does nothing while it does so already: what makes this process late must not
   * make it do more.
   */
  catchUp(pause: ProcessPause): void {
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    const rounds = [...this.#clusters.values()].flatMap(({ prober }) => prober?.catchUp(pause) ?? []);
    void Promise.all(rounds).finally(() => (this.#isCatchingUp = false));
  }

  /**
   * Something outside the probes announced a change of a cluster: its nodes are probed in a burst, so that the change
   * is seen sooner.
   * @param node the only node to probe often, or `null` for all
   */
  hint(cluster: string, node: string | null = null): HintEffect {
    return this.#clusters.get(cluster)?.prober?.hint(node) ?? "unknown";
  }

  /** A management call may have changed a cluster: probes all its nodes now, and in a burst. */
  probeNow(cluster: string): void {
    const prober = this.#clusters.get(cluster)?.prober;
    prober?.requestRound();
    prober?.hint(null);
  }

  /** The next probes of a node open new connections, because its name leads elsewhere. */
  reconnectTo(cluster: string, node: string): void {
    this.#clusters.get(cluster)?.prober?.reconnectTo(node);
  }

  /** Other probes of nodes are brought than before. */
  followBrought(): void {
    for (const { prober } of this.#clusters.values()) prober?.followBrought();
  }

  /** Ends the probing of clusters that are no longer configured. To be called before the store forgets them. */
  retain(clusters: readonly string[]): void {
    for (const [name, probed] of this.#clusters) {
      if (clusters.includes(name)) continue;
      close(probed);
      this.#clusters.delete(name);
    }
  }

  /** Ends all probing. */
  stop(): void {
    this.#endLateness?.();
    this.#endLateness = null;
    for (const probed of this.#clusters.values()) close(probed);
    this.#clusters.clear();
  }

  async #startCluster(
    cluster: ClusterConfig,
    {
      probe,
      schedule,
      isResting,
    }: Pick<Config, "probe"> & { readonly schedule: ProbeSchedule; readonly isResting: boolean },
  ): Promise<void> {
    const { name } = cluster;
    const known = this.#clusters.get(name);
    const isProbed = !isResting || this.isActive(name);
    const shared = JSON.stringify([cluster.scope, cluster.discover.length > 0, cluster.tls, schedule, probe]);
    if (known?.shared === shared && hasSameFiles(known)) {
      const serverNames = serverNamesOf(cluster);
      const renamed = differing(known.serverNames, serverNames);
      Object.assign(known, { config: cluster, serverNames });
      await known.prober?.configure(renamed);
    } else {
      if (known !== undefined) close(known);
      this.#clusters.delete(name);
      this.#prepare(cluster, { probe, schedule, shared });
    }
    if (isProbed) await this.begin(name);
  }

  #prepare(
    config: ClusterConfig,
    { probe, schedule, shared }: Pick<Config, "probe"> & { readonly schedule: ProbeSchedule; readonly shared: string },
  ): void {
    const { name, tls: paths } = config;
    const policy = this.#context.policy(name);
    if (policy === undefined) return;
    const limits = {
      connectTimeoutMs: probe.connectTimeoutMs,
      timeoutMs: probe.timeoutMs,
      budget: new ByteBudget(clusterLimits, this.#context.now, this.#budget),
      lateness: this.#lateness,
    };
    const files = new WatchedFiles(tlsPathsOf(paths), () => (paths === null ? null : readTls(paths)), {
      // Connections keep the TLS files that were read last. If there are none, connecting fails and says why.
      onProblem: (problem) => this.#context.onTls(name, problem),
      onChange: (renewed) => {
        probed.tls = renewed;
        probed.prober?.reconnect();
        this.#context.onTls(name, null);
      },
    });
    const context = this.#contextOf(name, { schedule, limits, policy, probed: () => probed });
    const [tls, serverNames] = [files.read(), serverNamesOf(config)];
    const probed: RunningCluster = { shared, context, files, config, serverNames, tls, prober: null };
    this.#clusters.set(name, probed);
    files.start();
  }

  #contextOf(name: string, { schedule, limits, policy: first, probed }: ClusterParts): ProbeContext {
    const { cluster: stateOf, policy: policyOf, connect, finders = () => [], turns, brought, ...rest } = this.#context;
    const policy = (): HealthPolicy => policyOf(name) ?? first;
    const askedNodes = new Map<string, SeedTurn>();
    const askedFor = (origin: string): SeedTurn => {
      const asked = askedNodes.get(origin) ?? { origin: null, silent: new Set() };
      askedNodes.set(origin, asked);
      return asked;
    };
    const clients = new SharedClients((origin) => {
      const { tls, serverNames } = probed();
      return connect(origin, limits, tlsTo(origin, tls, serverNames));
    }, limits.budget ?? null);
    // Each probe reads it many times: an accessor among its properties would make a slow object of it (V8 keeps the
    // properties of such objects in a hash table).
    return {
      ...rest,
      cluster: name,
      schedule,
      policy,
      pace: this.#pace,
      answersWaitMs: () => turns?.waitMs ?? 0,
      parsing: new ParseBudget(rest.now),
      brought: {
        bringers: () => brought?.() ?? [],
        get config() {
          return probed().config;
        },
        limits,
      },
      state: () => requireState(stateOf(name), name),
      connect: (origin) => {
        const connection = isPlainAddress(origin)
          ? clients.connect(origin)
          : new FoundConnection(origin, {
              finders,
              connect: (to) => clients.connect(to),
              asked: askedFor(origin),
              timeoutMs: limits.timeoutMs,
            });
        // Lists may add any number of members, which share one lane: they delay no configured address.
        const lane = policy().configured.includes(origin) ? `${name} ${origin}` : name;
        return turns === undefined ? connection : inTurn(connection, () => turns.next(lane));
      },
    };
  }
}

/** What the probers of one cluster are built from. */
interface ClusterParts {
  readonly schedule: ProbeSchedule;
  readonly limits: ClientLimits & ProbedCluster["limits"];
  readonly policy: HealthPolicy;
  readonly probed: () => RunningCluster;
}

function scheduleOf(probe: Config["probe"], livenessIntervalFactor: number): ProbeSchedule {
  const { intervalMs, burstIntervalMs, clusterIntervalMs, configIntervalMs, metricsIntervalMs, timeoutMs, fall } =
    probe;
  return {
    intervalMs,
    burstIntervalMs: Math.min(intervalMs, burstIntervalMs),
    livenessIntervalMs: livenessIntervalFactor * intervalMs,
    clusterIntervalMs,
    configIntervalMs,
    metricsIntervalMs,
    timeoutMs,
    fall,
  };
}

/** Whether the TLS files have the content that is in use. Those that cannot be read change nothing. */
function hasSameFiles({ files, tls }: RunningCluster): boolean {
  const present = files.read();
  return present === null || JSON.stringify(present) === JSON.stringify(tls);
}

/** The addresses whose certificates must have another name now. */
function differing(before: ServerNames, after: ServerNames): ReadonlySet<string> {
  return new Set([...before.keys(), ...after.keys()].filter((origin) => before.get(origin) !== after.get(origin)));
}

/** Sends requests over a connection, and hands out each answer in its turn. */
function inTurn(connection: NodeConnection, turn: () => Promise<void> | null): NodeConnection {
  return {
    get: (path, bodyMax) => connection.get(path, bodyMax).then((reply) => turn()?.then(() => reply) ?? reply),
    getStreamed: async (path, sink) => {
      const reply = await connection.getStreamed(path, sink);
      await turn();
      return reply;
    },
    close: () => connection.close(),
  };
}

function close({ prober, files }: RunningCluster): void {
  prober?.stop();
  files.close();
}

function requireState(state: ClusterState | undefined, cluster: string): ClusterState {
  if (state === undefined) throw new Error(`Cannot probe cluster ${cluster}: the store has no state for it`);
  return state;
}
