import type { Config } from "../config/model/config.ts";
import { clusterNamed, nodeNamed } from "../cluster/lookup.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { plainCheck } from "../health/check.ts";
import { type ClusterView, viewAt } from "../health/evidence/leadership/cluster-view.ts";
import { judgeMember } from "../health/rules/pool.ts";
import type { Caller } from "../http/message/caller.ts";
import type { BackendCount } from "../http/message/server-census.ts";
import type { Logger } from "../log/logger.ts";
import { runPreflight } from "../switchover/checks/run-preflight.ts";
import { supervisorOf } from "../switchover/checks/supervisor.ts";
import { IntentFile } from "../switchover/intent/intent-file.ts";
import type { RequestResult } from "../switchover/machine/event.ts";
import type { SwitchoverPlan } from "../switchover/machine/plan.ts";
import { announcedPreflight } from "../switchover/preflight/announced-preflight.ts";
import { knownServers } from "../switchover/preflight/pooler-setup.ts";
import { isCheckedOnly } from "../switchover/run/plan-of.ts";
import { PeerLink } from "../switchover/peers/peer-link.ts";
import { Switchovers } from "../switchover/switchovers.ts";
import { thisMachine } from "./machine.ts";
import type { OwnMetrics } from "../metrics/own-metrics.ts";
import type { Monitor } from "./monitor.ts";

/** What seamless switchovers take from the process. */
export interface SwitchoverParts {
  readonly log: Logger;
  readonly config: () => Config;
  readonly monitor: Monitor;
  readonly gateway: Gateway;
  readonly metrics: OwnMetrics;
  /** The checks of each server that HAProxy names, of all processes. */
  readonly checks: () => Promise<readonly BackendCount[]>;
}

/** How long the answer to the request may take, in ms: Patroni answers when the new leader has the lock. */
const answerMs = 30_000;

/** Builds what carries out seamless switchovers. */
export function buildSwitchovers({ log, config, monitor, gateway, metrics, checks }: SwitchoverParts): Switchovers {
  const { store, clock } = monitor;
  const peerNames = (): readonly string[] => config().peers.map(({ name }) => name);
  const view = (cluster: string): ClusterView | null => {
    const state = clusterNamed(store.current, cluster);
    const policy = store.policyOf(cluster);
    return state === undefined || policy === undefined ? null : viewAt(state, policy, clock.observe());
  };
  return new Switchovers({
    log,
    config,
    intents: new IntentFile(() => pausesFile(config())),
    now: () => clock.observe(),
    wall: () => clock.wall(),
    setTimer: thisMachine.setTimer,
    view,
    primary: (cluster) => primaryOf(view(cluster)),
    isChangePending: (cluster) => monitor.isChangePending(cluster),
    preflight: async (request, heldMs) => {
      if (request.start === "announced")
        return announcedPreflight(view(request.cluster), { ...request, config: config() });
      return runPreflight(
        {
          ...request,
          config: config(),
          peers: peerNames(),
          routeWaitMs: isCheckedOnly(config(), request.cluster, monitor.leadingToPrimary(request.cluster))
            ? request.routeWaitMs
            : 0,
          supervisor: supervisorOf(process.env, process.pid),
          heldMs,
        },
        { view: () => view(request.cluster), servers: () => knownServers(store.current) },
      );
    },
    request: (plan, caller) => requestSwitchover(plan, { caller, gateway, monitor }),
    checks,
    balancersOf: (cluster) => monitor.leadingToPrimary(cluster),
    lead: (balancer, to, limitMs) => monitor.lead(balancer, to, limitMs),
    peers: (intent, { onEcho, onTakenOver }) =>
      config().peers.map((peer, at) => new PeerLink(peer, intent, { onEcho: () => onEcho(at), onTakenOver })),
    onStep: ({ cluster, run }, { step, text, afterMs }) =>
      log.info({ cluster, run, step, text, after_ms: Math.round(afterMs) }, "switchover"),
    onEnd: (ended) => {
      const { cluster, outcome, heldMs } = ended;
      metrics.count("switchovers", { cluster, outcome });
      if (heldMs !== null) metrics.observe("switchoverHeld", { cluster }, heldMs);
      if (outcome !== "dry_run" && outcome !== "refused") monitor.eventLog.recordSwitchover(ended);
    },
  });
}

/** The file that says what is paused; `null` without `state_file`. */
function pausesFile({ stateFile }: Pick<Config, "stateFile">): string | null {
  return stateFile === null ? null : `${stateFile}.pauses`;
}

/** The node that `/primary` says yes to; `null` if there is none. */
function primaryOf(view: ClusterView | null): string | null {
  const found = view?.cluster.nodes.find((observation) => judgeMember(view, observation, plainCheck("primary")).fit);
  return found?.node.name ?? null;
}

/** Sends the request, and lets the nodes be probed in a burst: the candidate, or all. */
async function requestSwitchover(
  { cluster, leader, candidate }: SwitchoverPlan,
  { caller, gateway, monitor }: Pick<SwitchoverParts, "gateway" | "monitor"> & { readonly caller: Caller },
): Promise<RequestResult> {
  const state = clusterNamed(monitor.store.current, cluster);
  const memberOf = (node: string): string =>
    (state === undefined ? undefined : nodeNamed(state, node))?.node.member ?? node;
  monitor.followHint({ cluster, node: candidate, event: candidate === null ? null : "promote" });
  const answer = await gateway.switchOver({
    cluster,
    leader: memberOf(leader),
    candidate: candidate === null ? null : memberOf(candidate),
    caller,
    timeoutMs: answerMs,
  });
  if ("message" in answer) return { kind: "refused", status: answer.status, reason: answer.message };
  if ("problem" in answer)
    return answer.mayBeExecuted
      ? { kind: "unknown", reason: `the request failed (${answer.problem}): the cluster may have executed it` }
      : { kind: "refused", status: 502, reason: `the node could not be reached (${answer.problem})` };
  const { status, text } = answer;
  const words = text.trim().slice(0, 500);
  if (status < 300) return { kind: "accepted" };
  if (status >= 400 && status < 500) return { kind: "refused", status, reason: words };
  return { kind: "unknown", reason: `the node answered ${status}: ${words}` };
}
