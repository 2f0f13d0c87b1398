import { pino } from "pino";
import { type ClusterView, viewAt } from "../health/evidence/leadership/cluster-view.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import type { Logger } from "../log/logger.ts";
import { setSystemTimer } from "../probe/schedule/system-timer.ts";
import { noSavedState, readSavedState } from "../state/saved-state.ts";
import { provenPrimary } from "../switchover/finish/proven-primary.ts";
import type { DcsSource } from "../dcs/watch/dcs-source.ts";
import type { GuardEvidence } from "../switchover/guardian/guard.ts";
import type { GuardedRun } from "../switchover/guardian/messages.ts";
import { RouteLeader } from "../switchover/hands/route-leader.ts";
import { IntentFile } from "../switchover/intent/intent-file.ts";
import { PeerLink } from "../switchover/peers/peer-link.ts";
import { notConfigured } from "../balancing/balancer.ts";
import { BalancerSet } from "../balancing/balancer-set.ts";
import { featurePushTargets } from "./registry/push-targets.ts";
import { type LocalProbes, startProbes } from "./probe-once.ts";

const time = { now: (): number => performance.now(), setTimer: setSystemTimer };

/** The guardian has no metrics. */
const noMetrics = { set: () => {}, count: () => {}, observe: () => {}, remove: () => {} };

/**
 * What a guardian knows of the cluster of its run: it asks the nodes itself, by the same rules as the main process. While
 * that lives it sends nothing to balancers.
 * @param onError takes what goes wrong; the run goes on without it
 */
export function openEvidence(guarded: GuardedRun, onError: (error: unknown) => void): GuardEvidence {
  const { intent, plan, config, routeWaitMs } = guarded;
  const { cluster } = intent;
  const log: Logger = pino({ level: "warn", base: null }, { write: (text: string) => void process.stderr.write(text) });
  let probes: LocalProbes | null = null;
  let isStopped = false;
  let dcs: Promise<DcsSource | null> | null = null;
  const started = async (): Promise<void> => {
    const file = config.stateFile;
    const saved = file === null ? noSavedState : await readSavedState(file, config.clusters);
    if (isStopped) return;
    probes = startProbes(config, (name, problem) => onError(new Error(`TLS files of ${name}: ${problem}`)), saved);
    probes.onChange((name) => pushes.clusterChanged(name));
    await probes.firstRound;
  };
  const view = (): ClusterView | null => {
    if (probes === null) return null;
    const { probed } = probes;
    const [state, policy] = [probed.cluster(cluster), probed.policy(cluster)];
    return state === undefined || policy === undefined ? null : viewAt(state, policy, probed.now());
  };
  const clusters = {
    cluster: (name: string): ClusterState | undefined => probes?.probed.cluster(name),
    policy: (name: string): HealthPolicy | undefined => probes?.probed.policy(name),
  };
  const pushes = new BalancerSet({ log, metrics: noMetrics, ...clusters, ...time });
  const leader = new RouteLeader({
    cluster,
    lead: (balancer, to, limitMs) => pushes.lead(balancer, to, limitMs) ?? Promise.resolve(notConfigured(balancer)),
    checks: () => Promise.resolve([]),
    nodes: () => view()?.cluster.nodes.map(({ node: { name } }) => name) ?? [],
    waitMs: routeWaitMs,
    ...time,
  });
  void started().catch(onError);
  return {
    primary: () => provenPrimary(view(), intent.finish.evidence, plan.leader),
    takeOver: () => {
      pushes.configure(featurePushTargets.flatMap((targetsOf) => targetsOf(config, clusters)));
      probes?.hint(cluster);
    },
    isChangePending: async () => {
      dcs ??= openDcs(config, cluster);
      return (await dcs)?.isChangePending() ?? null;
    },
    leader,
    peers: (mayBeRequested) => linksOf(guarded, mayBeRequested),
    isOver: () => isOver(guarded),
    stop: () => {
      isStopped = true;
      void dcs?.then((source) => source?.close()).catch(onError);
      pushes.stop();
      probes?.stop();
    },
  };
}

/** The keys of the cluster in its DCS; `null` if none is configured. Nothing of it is loaded before the guardian takes over. */
async function openDcs({ clusters }: GuardedRun["config"], cluster: string): Promise<DcsSource | null> {
  const found = clusters.find(({ name }) => name === cluster);
  if (found === undefined || found.dcs === null) return null;
  const [{ dcsSourceOf }, { readAccess }] = await Promise.all([
    import("../dcs/dcs-watches.ts"),
    import("../config/access-material.ts"),
  ]);
  return dcsSourceOf(found, found.dcs, readAccess(found.dcs));
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
