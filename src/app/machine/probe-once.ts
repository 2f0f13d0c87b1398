import { setTimeout as pause } from "node:timers/promises";
import type { ClusterState } from "../../core/cluster/snapshot.ts";
import type { LocalProbes, ProbedClusters } from "../../core/command/client/probed-clusters.ts";
import type { Config } from "../../core/config/model/config.ts";
import { walReached } from "../../core/health/evidence/node/report-position.ts";
import { overview } from "../../core/health/documents/overview.ts";
import { mayBeSeeds, seedProofs } from "../../core/health/evidence/node/seed-addresses.ts";
import type { HealthPolicy } from "../../core/health/health-policy.ts";
import type { FindProbes, ProbeBringer } from "../../core/probe/client/probe-context.ts";
import type { LocalNodeFinder } from "../../core/probe/client/node-finder.ts";
import { Probers } from "../../core/probe/probers.ts";
import { livenessIntervalFactor, restoreClusters } from "../../core/state/clusters.ts";
import { noSavedState, type SavedState } from "../../core/state/saved-state.ts";
import { Store } from "../../core/state/store.ts";
import { thisMachine } from "./machine.ts";

/** How long to go on probing after the first round. */
export interface Watch {
  /** In ms; 0: the first round is all. */
  readonly forMs: number;
  /** Whether what is known is enough. Called about every 100 ms. */
  readonly isDone: (probed: ProbedClusters) => boolean;
  readonly signal: AbortSignal;
  /** Called after the first round, and about every 100 ms. */
  readonly onProgress: (probed: ProbedClusters) => void;
}

/** What probes outside a serving process are made with. */
export interface LocalProbing {
  /** What is probed of nodes besides their APIs. */
  readonly find: readonly FindProbes[];
  /** What finds the nodes of addresses that are no host and port. */
  readonly finders: readonly ((config: Config) => LocalNodeFinder)[];
  /** Receives each problem with the TLS files of a cluster. */
  readonly onTlsProblem: (cluster: string, problem: string) => void;
}

const singleLook: Watch = {
  forMs: 0,
  isDone: () => true,
  signal: new AbortController().signal,
  onProgress: () => {},
};

/** How often a watch looks whether it is done, in ms. */
const lookIntervalMs = 100;

/**
 * Probes every node of every cluster once, as a serving process does, and stops. Takes at most one probe timeout; three
 * probes more where members may be behind NAT.
 * Evidence that needs several probes is missing: time lag, attachment, the history of the leader. With a watch, probes
 * go on as those of a serving process do, so that such evidence comes.
 */
export async function probeOnce(
  config: Config,
  parts: LocalProbing,
  watch: Watch = singleLook,
): Promise<ProbedClusters> {
  const probes = startProbes(config, parts);
  try {
    await probes.firstRound;
    await watchOn(probes.probed, seedWatch(config, probes.probed));
    if (watch.forMs > 0) {
      probes.startWatch();
      await watchOn(probes.probed, watch);
    }
  } finally {
    probes.stop();
  }
  return probes.probed;
}

/**
 * Probes every node of every cluster as a serving process does, until it is stopped.
 * @param saved what an earlier process knew
 */
export function startProbes(
  config: Config,
  { find, finders: open, onTlsProblem }: LocalProbing,
  saved: SavedState = noSavedState,
): LocalProbes {
  const store = new Store("once", restoreClusters(config, saved));
  const cluster = (name: string): ClusterState | undefined => store.clusterNamed(name);
  const policy = (name: string): HealthPolicy | undefined => store.policyOf(name);
  const finders = open.map((one) => one(config));
  let brought: readonly ProbeBringer[] = [];
  const probers = new Probers({
    brought: () => brought,
    finders: () => finders,
    record: (outcome) => store.record(outcome, now()),
    cluster,
    policy,
    now,
    wall: () => Date.now(),
    random: thisMachine.random,
    connect: thisMachine.connect,
    onProbeFinished: () => {},
    onTls: (name, problem) => {
      if (problem !== null) onTlsProblem(name, problem);
    },
  });
  const firstPositions = new Map<string, number>();
  store.onChange((before, after) => {
    keepFirstPositions(firstPositions, after);
    probers.onChange(before, after);
  });
  let startedAtMs: number | null = null;
  let endedAtMs: number | null = null;
  const probed: ProbedClusters = {
    get snapshot() {
      return store.current;
    },
    cluster,
    policy,
    now,
    overview: () => overview(store.current, policy, { nowMs: now(), wallMs: Date.now() }),
    firstWalPosition: (name, node) => firstPositions.get(`${name}/${node}`) ?? null,
    watchedMs: () => (startedAtMs === null ? 0 : (endedAtMs ?? now()) - startedAtMs),
  };
  const stop = (): void => {
    endedAtMs ??= now();
    probers.stop();
    for (const finder of finders) finder.close();
  };
  const startWatch = (): void => {
    startedAtMs ??= now();
  };
  const hint = (name: string): void => void probers.hint(name);
  const onChange: LocalProbes["onChange"] = (listener) => void store.onChange((_, { name }) => listener(name));
  const bring = async (): Promise<boolean> => {
    const found = await Promise.all(find.map((one) => one(config)));
    brought = found.filter((one) => one !== null);
    return endedAtMs === null;
  };
  return { probed, firstRound: firstRoundOf(probers, { config, bring, stop }), hint, onChange, startWatch, stop };
}

/** What the first round needs. */
interface FirstRound {
  readonly config: Config;
  /** Loads what is probed besides APIs. @returns whether the probes are still wanted */
  readonly bring: () => Promise<boolean>;
  readonly stop: () => void;
}

/** Starts the probers. Resolves after the first round. @throws what keeps them from starting; they are stopped then */
async function firstRoundOf(probers: Probers, { config, bring, stop }: FirstRound): Promise<void> {
  try {
    if (!(await bring())) return;
    // What another rolecall would send is not awaited: every cluster is probed.
    await probers.start(config, livenessIntervalFactor);
  } catch (error) {
    stop();
    throw error;
  }
}

/** Behind NAT, members are reached at the addresses of `discover` alone: that needs several answers (rule 10). */
function seedWatch({ clusters, probe }: Config, { cluster }: ProbedClusters): Watch {
  const isDone = (): boolean =>
    clusters.every(({ name }) => {
      const state = cluster(name);
      return state === undefined || !mayBeSeeds(state);
    });
  return { ...singleLook, forMs: seedProofs * probe.intervalMs + probe.timeoutMs, isDone };
}

async function watchOn(probed: ProbedClusters, { forMs, isDone, signal, onProgress }: Watch): Promise<void> {
  const endMs = now() + forMs;
  for (;;) {
    onProgress(probed);
    const leftMs = endMs - now();
    if (leftMs <= 0 || signal.aborted || isDone(probed)) return;
    await pause(Math.min(lookIntervalMs, leftMs), undefined, { signal }).catch(() => {}); // aborted: the loop ends
  }
}

function keepFirstPositions(first: Map<string, number>, { name, nodes }: ClusterState): void {
  for (const { node, report } of nodes) {
    const key = `${name}/${node.name}`;
    const reached = report === null ? null : walReached(report);
    if (reached !== null && !first.has(key)) first.set(key, reached);
  }
}

/** The clock of the evidence, in ms. The monotonic clock is enough: no suspend is expected while a command runs. */
function now(): number {
  return performance.now();
}
