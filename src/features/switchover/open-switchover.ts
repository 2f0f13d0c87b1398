import { hostname } from "node:os";
import { nodeNamed } from "../../core/cluster/lookup.ts";
import type { Config } from "../../core/config/model/config.ts";
import { type Balancers, notConfigured } from "../../core/balancing/balancer.ts";
import type { Host, Opened } from "../../core/feature/feature.ts";
import type { Offers } from "../../core/feature/offer.ts";
import {
  balancers,
  runClaims,
  managementCalls,
  pendingChanges,
  seamlessSwitchovers,
} from "../../core/feature/offers.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { type ClusterView, viewIfKnown } from "../../core/health/evidence/leadership/cluster-view.ts";
import { BodyBudget } from "../../core/http/message/body-budget.ts";
import type { Caller } from "../../core/http/message/caller.ts";
import { supervisorOf } from "../../core/program/supervisor.ts";
import { runPreflight } from "./checks/run-preflight.ts";
import type { Grantor } from "./claims/own-claim.ts";
import { Claims } from "./claims/claims.ts";
import { StandingLeases } from "./claims/standing-leases.ts";
import { fleetGrantor, fleetLeases } from "./claims/fleet-grantor.ts";
import { beganHoldEvent, endedHoldEvent, endedSwitchoverEvent, keptPausesEvent } from "./events.ts";
import { primaryAfterLoss, servingPrimary } from "./finish/proven-primary.ts";
import { fileBeside } from "./files.ts";
import { IntentFile } from "./intent/intent-file.ts";
import type { RequestResult } from "./machine/event.ts";
import type { SwitchoverPlan } from "./machine/plan.ts";
import type { EndedSwitchover } from "./run/ended-switchover.ts";
import { PauseKeeper, type PauseKeeperContext } from "./peers/pause-keeper.ts";
import { instanceOf, peerLeases } from "./peers/peer-grantor.ts";
import { LossWatch } from "./loss/loss-watch.ts";
import { announcedPreflight } from "./preflight/announced-preflight.ts";
import { knownServers } from "./preflight/pooler-setup.ts";
import { heldOnLoss, isCheckedOnly } from "./run/plan-of.ts";
import { Switchovers } from "./switchovers.ts";

/** Calls of peers that are being received, in bytes: of one caller, and of all. The longest has 2 MB. */
export const peerBodyBytes = { one: 4 * 1024 * 1024, all: 16 * 1024 * 1024 } as const;

/** What carries out seamless switchovers: those of this process, and those that others no longer can finish. */
export interface RunningSwitchovers extends Opened {
  readonly switchovers: Switchovers;
  /** What other rolecalls have announced. */
  readonly keeper: PauseKeeper;
  /** What calls of peers that are being received may take in memory. */
  readonly bodies: BodyBudget;
  /** Which run of a cluster may go on. */
  readonly claims: Claims;
  /** Which rolecall holds clients after a loss. */
  readonly leases: StandingLeases;
  /** This process, as its peers know it. */
  readonly instance: string;
}

/** How long the answer to the request may take, in ms: Patroni answers when the new leader has the lock. */
const answerMs = 30_000;
/** What Patroni says with 503 of a restart that it has not begun (3.0.2 and 4.1.4, ha.py, `restart`). */
const notBegun = /conditions are not satisfied|already in progress/;
/** How long runs may take to end where the configuration does not use them any more, in ms. */
const endMaxMs = 20_000;

/** Opens what carries out seamless switchovers, and reads what an earlier process has left. */
export function openSwitchover(host: Host, scope: Scope): RunningSwitchovers {
  const { log } = host;
  const { instance } = host.snapshot();
  let config: Config;
  let ready: Promise<void> | null = null;
  const watching = scope.child("what other rolecalls have announced");
  const claims: Claims = new Claims({
    log,
    path: () => fileBeside(config, "claims"),
    now: host.observe,
    open: () => keeper.open,
    poolers: () => config.poolers,
    isPeer: (other) => isPeer(config, other),
  });
  const keeper: PauseKeeper = openKeeper(host, watching, {
    poolers: () => config.poolers,
    claims,
    finish: (...kept) => switchovers.finish(...kept),
  });
  // A scope of its own: what runs still have to do needs timers while the rest ends.
  const runs = scope.child("what runs have left");
  const agreeing = scope.child("who holds clients after a loss");
  const leases: StandingLeases = openLeases(host, agreeing, {
    config: () => config,
    isHolding: (cluster) => switchovers.isHolding(cluster),
  });
  const switchovers: Switchovers = openRuns(host, runs, { claims, config: () => config, leases, keeper });
  const losses = openLosses(host, scope.child("what is watched for losses"), { switchovers, config: () => config });
  const stopping = async (): Promise<void> => {
    losses.stop();
    await agreeing.end();
    // Nothing may stay paused. What is not resumed in time is resumed by the guardian, and by the next process.
    await switchovers.stop("rolecall is stopping");
    await watching.end();
  };
  scope.hold("what is offered", seamlessSwitchovers.bring(host.offers, switchovers));
  scope.hold("the switchovers", stopping, endMaxMs);
  return {
    switchovers,
    keeper,
    claims,
    leases,
    instance,
    bodies: new BodyBudget(peerBodyBytes),
    configure: (next) => {
      config = next;
      if (ready === null) ready = startAll(claims, switchovers, losses).then(() => void leases.run());
      else reconfigure(switchovers, losses, ready);
    },
    get ready() {
      return ready ?? Promise.resolve();
    },
    isBusy: () => switchovers.paused.size > 0 || keeper.open.length > 0,
    clusterChanged: (cluster) => {
      switchovers.clusterChanged(cluster);
      losses.clusterChanged(cluster);
    },
    stopping,
  };
}

/** What agrees with other rolecalls which of them holds clients after a loss. It asks nobody before it runs. */
function openLeases(
  host: Host,
  scope: Scope,
  { config, isHolding }: { readonly config: () => Config; readonly isHolding: (cluster: string) => boolean },
): StandingLeases {
  const leases = new StandingLeases({
    log: host.log,
    self: { instance: host.snapshot().instance, by: hostname() },
    now: host.observe,
    scope,
    clusters: () =>
      config()
        .clusters.map(({ name }) => name)
        .filter((name) => heldOnLoss(config(), name) !== null),
    grantors: () => [...config().peers.map(peerLeases), ...runClaims.in(host.offers).map(fleetLeases)],
    isHolding,
  });
  scope.hold("who holds clients after a loss", () => leases.stop());
  return leases;
}

/** What watches, and finishes, what other rolecalls announce. */
function openKeeper(
  host: Host,
  scope: Scope,
  {
    claims,
    ...sources
  }: Pick<PauseKeeperContext, "poolers" | "finish"> & { readonly claims: Pick<Claims, "heard" | "give"> },
): PauseKeeper {
  return new PauseKeeper({
    ...sources,
    log: host.log,
    now: host.observe,
    scope,
    name: hostname(),
    onHeard: (run) => claims.heard(run),
    onOver: (run) => void claims.give(run, null),
    onChange: (change) => host.publish(keptPausesEvent(change), { poolers: change.databases.slice(0, 20) }),
  });
}

/** What holds clients after the loss of a primary. It opens nothing before it is configured. */
function openLosses(
  host: Host,
  scope: Scope,
  { switchovers, config }: { readonly switchovers: Switchovers; readonly config: () => Config },
): LossWatch {
  const view = (name: string): ClusterView | null => viewIfKnown(host.cluster(name), host.policy(name), host.observe());
  const losses = new LossWatch({
    config,
    now: host.observe,
    scope,
    primary: (name) => servingPrimary(view(name)),
    primarySince: (name, leader, sinceMs) => primaryAfterLoss(view(name), leader, sinceMs),
    addressOf: (name, node) => {
      const state = host.cluster(name);
      return (state === undefined ? undefined : nodeNamed(state, node))?.node.database ?? null;
    },
    begin: (cluster, leader) => switchovers.holdOnLoss(cluster, leader),
    onNewPrimary: (cluster, node) => switchovers.newPrimary(cluster, node),
    hint: (cluster) => void host.hint({ cluster, node: null, event: null }),
    onError: (error) => host.contained(error, { part: "what is watched for losses" }),
  });
  scope.hold("what is watched for losses", () => losses.stop());
  return losses;
}

/** What runs are made with. */
interface RunSources {
  readonly claims: Claims;
  readonly config: () => Config;
  readonly leases: StandingLeases;
  readonly keeper: PauseKeeper;
}

function openRuns(host: Host, scope: Scope, { claims, config, leases, keeper }: RunSources): Switchovers {
  const { log, offers, observe } = host;
  const view = (name: string): ClusterView | null => viewIfKnown(host.cluster(name), host.policy(name), observe());
  const self = { instance: host.snapshot().instance, name: hostname() };
  const leading = (cluster: string): readonly string[] =>
    balancers.in(offers).flatMap((one) => one.leadingToPrimary(cluster));
  return new Switchovers({
    log,
    config,
    claims,
    self,
    scope,
    intents: new IntentFile(() => fileBeside(config(), "pauses")),
    now: observe,
    wall: host.wall,
    setTimer: scope.setTimer,
    view,
    isChangePending: (cluster) => pendingChanges.in(offers)[0]?.(cluster) ?? Promise.resolve(null),
    preflight: (request, heldMs) => {
      const { cluster } = request;
      if (request.start === "announced")
        return Promise.resolve(announcedPreflight(view(cluster), { ...request, config: config() }));
      const input = {
        ...request,
        config: config(),
        self: { ...self, generation: claims.next(cluster) },
        routeWaitMs: isCheckedOnly(config(), cluster, leading(cluster)) ? request.routeWaitMs : 0,
        uncounted: balancers.in(offers).flatMap((one) => one.uncounted(cluster)),
        supervisor: supervisorOf(process.env, process.pid),
        heldMs,
      };
      return runPreflight(input, { view: () => view(cluster), servers: () => knownServers(host.snapshot()) });
    },
    servers: () => knownServers(host.snapshot()),
    request: (plan, caller, mayStill) => requestChange(plan, { host, caller, mayStill }),
    checks: host.backendCounts,
    balancersOf: leading,
    lead: (...to) => leadBy(offers, ...to),
    grantors: (isOptional) => grantorsIn(offers, isOptional),
    holdsAfterLoss: (cluster) => leases.stateOf(cluster).kind === "own",
    isBusyElsewhere: (cluster) =>
      leases.stateOf(cluster).kind === "theirs" || keeper.open.some((run) => run.cluster === cluster),
    onStep: ({ cluster, run }, { step, text, afterMs }) =>
      log.info({ cluster, run, step, text, after_ms: Math.round(afterMs) }, "switchover"),
    onAdopted: host.changed,
    onHeld: (...held) => tellHeld(host, ...held),
    onEnd: (ended) => tellEnd(host, ended),
  });
}

/** Tells that clients are held. */
function tellHeld(host: Host, ...[cluster, run, hold]: Parameters<typeof beganHoldEvent>): void {
  host.changed(cluster);
  host.publish(beganHoldEvent(cluster, run, hold));
}

/** Counts and tells what has ended. */
function tellEnd(host: Host, ended: EndedSwitchover): void {
  const { metrics } = host;
  const { cluster, outcome, heldMs, start } = ended;
  if (start === "loss") {
    metrics.count("holds", { cluster, outcome });
    if (heldMs !== null) metrics.observe("holdHeld", { cluster }, heldMs);
    host.changed(cluster);
    host.publish(endedHoldEvent(ended));
    return;
  }
  if (start === "restart") {
    metrics.count("restarts", { cluster, outcome });
    if (heldMs !== null) metrics.observe("restartHeld", { cluster }, heldMs);
    if (outcome !== "dry_run" && outcome !== "refused") host.publish(endedSwitchoverEvent(ended));
    return;
  }
  metrics.count("switchovers", { cluster, outcome });
  if (heldMs !== null) metrics.observe("switchoverHeld", { cluster }, heldMs);
  if (outcome !== "dry_run" && outcome !== "refused") host.publish(endedSwitchoverEvent(ended));
}

async function startAll(claims: Claims, switchovers: Switchovers, losses: LossWatch): Promise<void> {
  await Promise.all([claims.start(), switchovers.start()]);
  losses.configure();
}

function reconfigure(switchovers: Switchovers, losses: LossWatch, ready: Promise<void>): void {
  switchovers.configure();
  void ready.then(() => losses.configure());
}

/** Makes sure that a balancer leads clients to a node, whichever feature has it. @returns why it does not, or `null` */
function leadBy(offers: Offers, ...[balancer, ...to]: Parameters<Balancers["lead"]>): Promise<string | null> {
  for (const one of balancers.in(offers)) {
    const led = one.lead(balancer, ...to);
    if (led !== undefined) return led;
  }
  return Promise.resolve(notConfigured(balancer));
}

function grantorsIn(offers: Offers, isOptional: boolean): readonly Grantor[] {
  return runClaims.in(offers).map((claims) => fleetGrantor(claims, isOptional));
}

/** Whether a process is among the peers of this one; `null` if a peer does not say who it is, and none is this process. */
async function isPeer({ peers }: Pick<Config, "peers">, instance: string): Promise<boolean | null> {
  const found = await Promise.all(peers.map(instanceOf));
  if (found.includes(instance)) return true;
  return found.includes(null) ? null : false;
}

/** Sends the request, and lets the nodes be probed in a burst: the candidate, or all. */
async function requestChange(
  { cluster, leader, candidate, restart, limits: { deadlineMs } }: SwitchoverPlan,
  { host, caller, mayStill }: { readonly host: Host; readonly caller: Caller; readonly mayStill: () => boolean },
): Promise<RequestResult> {
  const [calls] = managementCalls.in(host.offers);
  if (calls === undefined)
    return { kind: "refused", status: 503, reason: "no part of rolecall that calls nodes is open" };
  const state = host.cluster(cluster);
  const memberOf = (node: string): string =>
    (state === undefined ? undefined : nodeNamed(state, node))?.node.member ?? node;
  host.hint({ cluster, node: candidate, event: candidate === null ? null : "promote" });
  const own = { cluster, caller, mayStill, timeoutMs: Math.max(answerMs, deadlineMs) };
  const answer = await (restart === null
    ? calls.switchOver({
        ...own,
        leader: memberOf(leader),
        candidate: candidate === null ? null : memberOf(candidate),
      })
    : calls.restart({ ...own, node: leader }));
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
  if (restart !== null && notBegun.test(words)) return { kind: "refused", status, reason: words };
  return { kind: "unknown", reason: `the node answered ${status}: ${words}` };
}
