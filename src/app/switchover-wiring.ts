import { hostname } from "node:os";
import type { Config } from "../config/model/config.ts";
import { clusterNamed, nodeNamed } from "../cluster/lookup.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { type ClusterView, viewAt } from "../health/evidence/leadership/cluster-view.ts";
import type { Caller } from "../http/message/caller.ts";
import type { BackendCount } from "../http/message/server-census.ts";
import type { Logger } from "../log/logger.ts";
import { runPreflight } from "../switchover/checks/run-preflight.ts";
import { supervisorOf } from "../switchover/checks/supervisor.ts";
import { runClaims } from "../feature/offers.ts";
import { fleetGrantor } from "../switchover/claims/fleet-grantor.ts";
import { Claims } from "../switchover/claims/claims.ts";
import { IntentFile } from "../switchover/intent/intent-file.ts";
import type { RequestResult } from "../switchover/machine/event.ts";
import type { SwitchoverPlan } from "../switchover/machine/plan.ts";
import { BodyBudget } from "../http/message/body-budget.ts";
import { PauseKeeper } from "../switchover/peers/pause-keeper.ts";
import { instanceOf } from "../switchover/peers/peer-grantor.ts";
import { announcedPreflight } from "../switchover/preflight/announced-preflight.ts";
import { knownServers } from "../switchover/preflight/pooler-setup.ts";
import { isCheckedOnly } from "../switchover/run/plan-of.ts";
import { Switchovers } from "../switchover/switchovers.ts";
import { thisMachine } from "./machine.ts";
import type { OwnMetrics } from "../metrics/own-metrics.ts";
import type { Monitor } from "./monitor.ts";

/** Calls of peers that are being received, in bytes: of one caller, and of all. The longest has 2 MB. */
export const peerBodyBytes = { one: 4 * 1024 * 1024, all: 16 * 1024 * 1024 } as const;

/** What seamless switchovers take from the process. */
export interface SwitchoverParts {
  readonly log: Logger;
  readonly config: () => Config;
  readonly monitor: Monitor;
  readonly gateway: Gateway;
  readonly metrics: OwnMetrics;
  /** The checks of each server that HAProxy names, of all processes. */
  readonly checks: () => Promise<readonly BackendCount[]>;
  /** What other rolecalls say of their runs cannot be recorded. */
  readonly onError: (error: unknown) => void;
}

/** What carries out seamless switchovers: those of this process, and those that others no longer can finish. */
export interface SwitchoverServices {
  readonly switchovers: Switchovers;
  /** What other rolecalls have announced. */
  readonly keeper: PauseKeeper;
  /** What calls of peers that are being received may take in memory. */
  readonly bodies: BodyBudget;
  /** Which run of a cluster may go on. */
  readonly claims: Claims;
  /** This process, as its peers know it. */
  readonly instance: string;
}

/** How long the answer to the request may take, in ms: Patroni answers when the new leader has the lock. */
const answerMs = 30_000;

/** Builds what carries out seamless switchovers. */
export function buildSwitchovers(parts: SwitchoverParts): SwitchoverServices {
  const { log, config, monitor, onError } = parts;
  const { clock, store } = monitor;
  const { instance } = store.current;
  const now = (): number => clock.observe();
  const claims: Claims = new Claims({
    log,
    path: () => fileBeside(config(), "claims"),
    now,
    open: () => keeper.open,
    poolers: () => config().poolers,
    isPeer: (asking) => isPeer(config(), asking),
  });
  const keeper: PauseKeeper = new PauseKeeper({
    log,
    now,
    setTimer: thisMachine.setTimer,
    poolers: () => config().poolers,
    name: hostname(),
    onHeard: (run) => claims.heard(run),
    onOver: (run) => void claims.give(run, null),
    finish: (...kept) => switchovers.finish(...kept),
    onChange: (change) => {
      try {
        monitor.eventLog.recordPauses(change);
      } catch (error) {
        onError(error);
      }
    },
  });
  const switchovers: Switchovers = buildRuns(parts, claims);
  return { switchovers, keeper, claims, instance, bodies: new BodyBudget(peerBodyBytes) };
}

function buildRuns({ log, config, monitor, gateway, metrics, checks }: SwitchoverParts, claims: Claims): Switchovers {
  const { store, clock } = monitor;
  const view = (cluster: string): ClusterView | null => {
    const state = clusterNamed(store.current, cluster);
    const policy = store.policyOf(cluster);
    return state === undefined || policy === undefined ? null : viewAt(state, policy, clock.observe());
  };
  return new Switchovers({
    log,
    config,
    claims,
    self: { instance: store.current.instance, name: hostname() },
    intents: new IntentFile(() => fileBeside(config(), "pauses")),
    now: () => clock.observe(),
    wall: () => clock.wall(),
    setTimer: thisMachine.setTimer,
    view,
    isChangePending: (cluster) => monitor.isChangePending(cluster),
    preflight: async (request, heldMs) => {
      if (request.start === "announced")
        return announcedPreflight(view(request.cluster), { ...request, config: config() });
      return runPreflight(
        {
          ...request,
          config: config(),
          self: { instance: store.current.instance, name: hostname(), generation: claims.next(request.cluster) },
          routeWaitMs: isCheckedOnly(config(), request.cluster, monitor.leadingToPrimary(request.cluster))
            ? request.routeWaitMs
            : 0,
          uncounted: monitor.uncounted(request.cluster),
          supervisor: supervisorOf(process.env, process.pid),
          heldMs,
        },
        { view: () => view(request.cluster), servers: () => knownServers(store.current) },
      );
    },
    request: (plan, caller, mayStill) => requestSwitchover(plan, { caller, gateway, monitor, mayStill }),
    checks,
    balancersOf: (cluster) => monitor.leadingToPrimary(cluster),
    lead: (balancer, to, limitMs) => monitor.lead(balancer, to, limitMs),
    grantors: (isOptional) => runClaims.in(monitor.offers).map((fleet) => fleetGrantor(fleet, isOptional)),
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

/** A file beside the state file; `null` without one. `pauses`: what is paused. `claims`: what is promised to others. */
function fileBeside({ stateFile }: Pick<Config, "stateFile">, suffix: "pauses" | "claims"): string | null {
  return stateFile === null ? null : `${stateFile}.${suffix}`;
}

/** Whether a process is among the peers of this one; `null` if a peer does not say who it is, and none is this process. */
async function isPeer({ peers }: Pick<Config, "peers">, instance: string): Promise<boolean | null> {
  const found = await Promise.all(peers.map(instanceOf));
  if (found.includes(instance)) return true;
  return found.includes(null) ? null : false;
}

/** Sends the request, and lets the nodes be probed in a burst: the candidate, or all. */
async function requestSwitchover(
  { cluster, leader, candidate }: SwitchoverPlan,
  {
    caller,
    gateway,
    monitor,
    mayStill,
  }: Pick<SwitchoverParts, "gateway" | "monitor"> & { readonly caller: Caller; readonly mayStill: () => boolean },
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
    mayStill,
  });
  if ("message" in answer) return { kind: "refused", status: answer.status, reason: answer.message };
  if ("withheld" in answer) return { kind: "withheld" };
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
