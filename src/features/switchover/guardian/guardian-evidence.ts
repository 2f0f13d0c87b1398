import { pino } from "pino";
import { notConfigured } from "../../../core/balancing/balancer.ts";
import { BalancerSet } from "../../../core/balancing/balancer-set.ts";
import type { ClusterState } from "../../../core/cluster/snapshot.ts";
import type { LocalProbes } from "../../../core/command/client/probed-clusters.ts";
import type { ChildHost, FindPendingChange, PendingChangeSource } from "../../../core/feature/child-host.ts";
import type { Scope } from "../../../core/feature/scope.ts";
import { type ClusterView, viewIfKnown } from "../../../core/health/evidence/leadership/cluster-view.ts";
import type { HealthPolicy } from "../../../core/health/health-policy.ts";
import type { Logger } from "../../../core/log/logger.ts";
import { noSavedState, readSavedState } from "../../../core/state/saved-state.ts";
import { provenPrimary } from "../finish/proven-primary.ts";
import { restartOf } from "../finish/restarted-node.ts";
import type { GuardEvidence } from "./guard.ts";
import type { GuardedRun } from "./messages.ts";
import { RouteLeader } from "../hands/route-leader.ts";
import { IntentFile } from "../intent/intent-file.ts";
import { PeerLink } from "../peers/peer-link.ts";

/** What a guardian gets its evidence from, and whom it tells. */
export interface EvidenceContext extends ChildHost {
  /** Takes what goes wrong; the run goes on without it. */
  readonly onError: (error: unknown) => void;
  /** Ends all of it. */
  readonly scope: Scope;
}

/** The guardian has no metrics. */
const noMetrics = { set: () => {}, count: () => {}, observe: () => {}, remove: () => {} };

/**
 * What a guardian knows of the cluster of its run: it asks the nodes itself, by the same rules as the main process. While
 * that lives it sends nothing to balancers.
 */
export function openEvidence(guarded: GuardedRun, sources: EvidenceContext): GuardEvidence {
  const { setTimer, scope } = sources;
  const time = { now: (): number => performance.now(), setTimer };
  const { intent, config, routeWaitMs } = guarded;
  const { cluster } = intent;
  const log: Logger = pino({ level: "warn", base: null }, { write: (text: string) => void process.stderr.write(text) });
  const clusters = openClusters(guarded, { ...sources, onChange: (name) => pushes.clusterChanged(name) });
  const view = (): ClusterView | null => clusters.view(cluster);
  let pending: Promise<PendingChangeSource | null> | null = null;
  const pushes = new BalancerSet({ log, metrics: noMetrics, ...clusters, ...time });
  const leader = new RouteLeader({
    cluster,
    lead: (balancer, to, limitMs) => pushes.lead(balancer, to, limitMs) ?? Promise.resolve(notConfigured(balancer)),
    checks: () => Promise.resolve([]),
    nodes: () => view()?.cluster.nodes.map(({ node: { name } }) => name) ?? [],
    waitMs: routeWaitMs,
    ...time,
  });
  scope.hold("the balancers", () => pushes.stop());
  return {
    primary: () => provenPrimary(view(), intent.finish.evidence, intent.finish),
    ...restartOf(intent.finish, view, provenPrimary),
    takeOver: () => {
      pushes.configure(sources.pushTargets.flatMap((targetsOf) => targetsOf(config, clusters)));
      clusters.hint(cluster);
    },
    isChangePending: async () => {
      if (pending === null) {
        const opened = openPending(sources.pendingChanges, config, cluster);
        pending = opened;
        scope.hold("what is written of changes", async () => (await opened)?.close());
      }
      return (await pending)?.isChangePending() ?? null;
    },
    leader,
    peers: (mayBeRequested) => linksOf(guarded, mayBeRequested),
    isOver: () => isOver(guarded),
    stop: () => void scope.end(),
  };
}

/** The first place where a change of the cluster's leader may be written; `null`: there is none. */
async function openPending(
  places: readonly FindPendingChange[],
  config: GuardedRun["config"],
  cluster: string,
): Promise<PendingChangeSource | null> {
  for (const open of places) {
    const source = await open(config, cluster);
    if (source !== null) return source;
  }
  return null;
}

/** The clusters of the configuration, which this process asks itself. */
interface AskedClusters {
  readonly cluster: (name: string) => ClusterState | undefined;
  readonly policy: (name: string) => HealthPolicy | undefined;
  view(name: string): ClusterView | null;
  hint(name: string): void;
}

/** Asks the nodes of all clusters, beginning with what the main process has saved. */
function openClusters(
  { config }: GuardedRun,
  { startProbes, scope, onChange, onError }: EvidenceContext & { readonly onChange: (cluster: string) => void },
): AskedClusters {
  let probes: LocalProbes | null = null;
  const start = async (): Promise<void> => {
    const file = config.stateFile;
    const saved = file === null ? noSavedState : await readSavedState(file, config.clusters);
    if (scope.signal.aborted) return;
    const started = startProbes(config, (name, what) => onError(new Error(`TLS files of ${name}: ${what}`)), saved);
    probes = started;
    scope.hold("the probes", () => started.stop());
    started.onChange(onChange);
    await started.firstRound;
  };
  void start().catch(onError);
  return {
    cluster: (name) => probes?.probed.cluster(name),
    policy: (name) => probes?.probed.policy(name),
    view: (name) => {
      if (probes === null) return null;
      const { probed } = probes;
      return viewIfKnown(probed.cluster(name), probed.policy(name), probed.now());
    },
    hint: (name) => probes?.hint(name),
  };
}

/** The peers that have acknowledged the run: they hear of this process from now on. */
function linksOf({ intent, plan, config }: GuardedRun, mayBeRequested: boolean): readonly PeerLink[] {
  return config.peers
    .filter(({ name }) => plan.peers.includes(name))
    .flatMap((peer) => {
      const link = new PeerLink(peer, () => intent, { onEcho: () => {}, onTakenOver: () => {} });
      return link.join(mayBeRequested) === null ? [link] : [];
    });
}

/** Whether the run has ended, or a peer finishes it, while this process stood still. */
async function isOver(guarded: GuardedRun): Promise<boolean> {
  const { intent, intentsPath } = guarded;
  const left = await new IntentFile(() => intentsPath).read();
  if (left.kind === "known" && left.intents.every(({ run }) => run !== intent.run)) return true;
  const answers = await Promise.all(
    linksOf(guarded, false).map(async (link) => {
      // A peer that does not say has not taken over, as far as is known.
      const hasTakenOver = await link.hasTakenOver().catch(() => null);
      link.leave();
      return hasTakenOver;
    }),
  );
  return answers.includes(true);
}
