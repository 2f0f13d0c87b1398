import type { ChildProcess } from "node:child_process";
import { errorMessage } from "../../core/cluster/values/error-message.ts";
import type { SetTimer } from "../../core/cluster/timer.ts";
import type { Config } from "../../core/config/model/config.ts";
import type { PeerConfig } from "./config/peer-schema.ts";
import type { ClusterView } from "../../core/health/evidence/leadership/cluster-view.ts";
import type { Caller } from "../../core/http/message/caller.ts";
import type { BackendCount } from "../../core/http/message/server-census.ts";
import type { Scope } from "../../core/feature/scope.ts";
import type { Logger } from "../../core/log/logger.ts";
import type { LeadTo } from "../../core/balancing/balancer.ts";
import type { Claims } from "./claims/claims.ts";
import { type Grantor, OwnClaim } from "./claims/own-claim.ts";
import { evidenceOf, primaryAfterLoss, servingPrimary } from "./finish/proven-primary.ts";
import { seenRestart } from "./finish/restarted-node.ts";
import { type FinishContext, finishRun } from "./finish/finish-run.ts";
import { Guardian } from "./guardian/guardian.ts";
import type { GuardedRun } from "./guardian/messages.ts";
import { LoginRetry, loginRetries } from "./hands/login-retry.ts";
import { PauseHand } from "./hands/pause-hand.ts";
import { PendingChange } from "./hands/pending-change.ts";
import { RouteLeader } from "./hands/route-leader.ts";
import type { IntentFile } from "./intent/intent-file.ts";
import type { FinishIntent, IntendedPause, LoweredSetting, PauseIntent } from "./intent/pause-intent.ts";
import type { AdoptedRun } from "./machine/advance.ts";
import type { RequestResult } from "./machine/event.ts";
import { isAsked, type SwitchoverPlan } from "./machine/plan.ts";
import type { Outcome, SwitchoverState } from "./machine/state.ts";
import type { KeptFinish } from "./peers/pause-keeper.ts";
import { quickenLogins } from "./loss/quick-logins.ts";
import { peerGrantor } from "./peers/peer-grantor.ts";
import { PeerLink } from "./peers/peer-link.ts";
import type { Preflight } from "./preflight/preflight-line.ts";
import { intentSafeguard } from "./run/intent-safeguard.ts";
import { finishingQuietMs, heldKeyOf, type SwitchoverRequest } from "./run/plan-of.ts";
import { type RecordedStep, type Safeguard, type SwitchoverHands, SwitchoverRun } from "./run/switchover-run.ts";

/** What runs depend on. */
export interface RunBuilderContext {
  readonly log: Logger;
  readonly config: () => Config;
  readonly intents: IntentFile;
  readonly claims: Claims;
  /** This process, as its peers know it. */
  readonly self: { readonly instance: string; readonly name: string };
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /** In ms since the epoch. */
  readonly wall: () => number;
  readonly setTimer: SetTimer;
  /** At its end nothing is waited for any more, and settings of poolers come back in one attempt. */
  readonly scope: Pick<Scope, "hold" | "signal">;
  /** The evidence of a cluster now; `null` if it is not monitored. */
  readonly view: (cluster: string) => ClusterView | null;
  /** Whether a change of a cluster's leader is pending in its DCS; `null` if it is not known. */
  readonly isChangePending: (cluster: string) => Promise<boolean | null>;
  readonly preflight: (request: SwitchoverRequest, heldMs: readonly number[]) => Promise<Preflight>;
  /** @param mayStill whether it may be sent, looked at when the connection is open */
  readonly request: (plan: SwitchoverPlan, caller: Caller, mayStill: () => boolean) => Promise<RequestResult>;
  /** The checks of each server that HAProxy names. */
  readonly checks: () => Promise<readonly BackendCount[]>;
  readonly balancersOf: (cluster: string) => readonly string[];
  readonly lead: (balancer: string, to: LeadTo, limitMs: number) => Promise<string | null>;
  /** Whether it was agreed before that this process holds the clients of a cluster after a loss. */
  readonly holdsAfterLoss: (cluster: string) => boolean;
  /** Who grants a claim beside the peers: the store of the fleet. @param isOptional whether it may be silent */
  readonly grantors: (isOptional: boolean) => readonly Grantor[];
  readonly onStep: (plan: SwitchoverPlan, step: RecordedStep) => void;
  /** Starts the guardian process of a run, or takes one that is ready. */
  readonly guardian: () => ChildProcess;
  /** How long clients were held in the last switchovers of a cluster, in ms, oldest first. */
  readonly heldMs: (cluster: string) => readonly number[];
  /** Takes over a target that a run leaves although it may be paused. */
  readonly onLeft: (intent: PauseIntent, target: IntendedPause) => void;
  readonly onRunEnd: (plan: SwitchoverPlan, outcome: Outcome) => void;
}

/** What a run is made from, in addition to its plan. */
export interface RunParts {
  readonly request: SwitchoverRequest;
  readonly caller: Caller;
  /** Those of the plan, in the same order. */
  readonly targets: readonly IntendedPause[];
  readonly peers: readonly PeerConfig[];
}

/** An intent of which it is known how it is finished. */
type FinishableIntent = PauseIntent & { readonly finish: FinishIntent };

/** Of each command but PAUSE, in ms. */
const commandMs = 1_000;
/** Of one attempt to lead a database that no run holds, in ms. */
const leadMs = 2_000;
/** Between two looks at a pooler that is read again, in ms. */
const pollMs = 20;
/** A report that was asked for so soon after a loss may still be of the time before it, in ms. */
const recoveryMs = 100;
/** How long a route is waited for that cannot be read, where a run is finished for another process, in ms. */
const finishingWaitMs = 1_000;

/** Makes runs with all that carries them out: those of this process, and those of other processes that it finishes. */
export class RunBuilder {
  readonly #context: RunBuilderContext;

  constructor(context: RunBuilderContext) {
    this.#context = context;
  }

  /** A run that begins here. */
  build(plan: SwitchoverPlan, parts: RunParts): SwitchoverRun {
    const { now, setTimer, onStep, onRunEnd } = this.#context;
    const retries = this.#retriesOf(parts.targets, () => undefined);
    const runContext = {
      plan,
      now,
      setTimer,
      onError: this.#onError(plan),
      onStep: (step: RecordedStep) => onStep(plan, step),
      onEnd: (outcome: Outcome) => {
        void this.noteRestored(retries, false);
        onRunEnd(plan, outcome);
      },
    };
    return new SwitchoverRun(runContext, (run) => this.#handsOf(run, plan, { ...parts, retries }));
  }

  /** A run that another process has begun. It goes on at once. */
  finish(
    {
      intent: { run, cluster, finish },
      plan,
      targets,
      lowered,
      adopted,
    }: {
      readonly intent: FinishableIntent;
      readonly plan: SwitchoverPlan;
      readonly targets: KeptFinish["targets"] | readonly IntendedPause[];
      /** The settings of the poolers before the run, as far as it may have lowered them. */
      readonly lowered: readonly Pick<LoweredSetting, "pooler" | "before">[];
      readonly adopted: AdoptedRun;
    },
    acts: {
      readonly primary: () => string | null;
      readonly close: (target: number) => Promise<void>;
      readonly leave: (target: number) => void;
      readonly onEnd: (outcome: Outcome) => void;
      /** Whether a change of the leader is pending in the DCS; `null` if it is not known. */
      readonly isChangePending: () => Promise<boolean | null>;
      /** How far the restart of a database is; absent: the run restarts none. */
      readonly restart?: FinishContext["restart"];
    },
  ): SwitchoverRun {
    const { now, setTimer, onStep } = this.#context;
    const retries = this.#retriesOf(targets, (pooler) => lowered.find((one) => one.pooler === pooler)?.before ?? null);
    return finishRun(
      {
        ...acts,
        onEnd: (outcome) => {
          void this.noteRestored(retries, true);
          acts.onEnd(outcome);
        },
        retries,
        plan,
        by: { run, cluster, generation: finish.generation },
        targets: targets.map((target) => ({ resumer: null, ...target })),
        now,
        setTimer,
        leader: this.#leaderOf(cluster, finishingWaitMs),
        safeguards: [],
        onStep: (step) => onStep(plan, step),
        onError: this.#onError(plan),
      },
      adopted,
    );
  }

  /** What a plan is made from. */
  sourcesOf(
    cluster: string,
    targets: readonly IntendedPause[],
  ): {
    readonly config: Pick<Config, "poolers">;
    readonly targets: readonly IntendedPause[];
    readonly balancers: readonly string[];
  } {
    return { config: this.#context.config(), targets, balancers: this.#context.balancersOf(cluster) };
  }

  /** Sets back what an earlier process may have lowered for runs that have ended. */
  restoreLowered(): void {
    const { lowered, open } = this.#context.intents;
    const isOfRun = (pooler: string): boolean =>
      open.some(({ finish, targets }) => finish !== null && targets.some((target) => target.pooler === pooler));
    const left = lowered.filter(({ pooler }) => !isOfRun(pooler));
    void this.noteRestored(
      this.#retriesOf(left, (pooler) => left.find((one) => one.pooler === pooler)?.before ?? null),
      true,
    );
  }

  /**
   * Lets clients have servers soon that lead to a new primary and are held by no run. Never rejects.
   * @param isWanted whether this is to go on for a target
   */
  async quickenLogins(
    {
      cluster,
      node,
      targets,
    }: { readonly cluster: string; readonly node: string; readonly targets: readonly IntendedPause[] },
    {
      isWanted,
      wait,
    }: { readonly isWanted: (target: IntendedPause) => boolean; readonly wait: (ms: number) => Promise<void> },
  ): Promise<void> {
    const { intents, lead, now, log } = this.#context;
    const retries = this.#retriesOf(targets, () => undefined);
    await Promise.all(
      targets.map(async (target) => {
        const { pooler, database, console } = target;
        const retry = retries.get(pooler);
        if (retry === undefined) return;
        const isLowered = await quickenLogins({
          target,
          retry,
          lead: () => lead(pooler, { cluster, node, database }, leadMs),
          isWanted: () => isWanted(target),
          announce: (before) => intents.lower([{ pooler, console, before }]),
          wait,
          now,
        });
        if (isLowered)
          log.info({ cluster, pooler, database, node }, "clients that wait get servers of the new primary");
      }),
    );
    await this.noteRestored(retries, false);
  }

  /**
   * Waits until the settings of poolers are back, and writes that down. Never rejects. The end of the scope waits for that.
   * @param mayBeChanged whether another process may have lowered them
   */
  async noteRestored(retries: ReadonlyMap<string, LoginRetry>, mayBeChanged: boolean): Promise<void> {
    const noting = this.#noteRestored(retries, mayBeChanged);
    const over = this.#context.scope.hold("settings of poolers", () => noting);
    await noting;
    void over();
  }

  async #noteRestored(retries: ReadonlyMap<string, LoginRetry>, mayBeChanged: boolean): Promise<void> {
    const { intents, log } = this.#context;
    try {
      const results = await Promise.all(
        [...retries].map(async ([pooler, retry]) => ((await retry.restored(mayBeChanged)) ? [pooler] : [])),
      );
      await intents.restored(results.flat());
    } catch (error) {
      log.warn({ problem: errorMessage(error) }, "it is not written down that settings of poolers are as before");
    }
  }

  #retriesOf(
    targets: readonly Pick<IntendedPause, "pooler" | "console">[],
    beforeOf: (pooler: string) => string | null | undefined,
  ): ReadonlyMap<string, LoginRetry> {
    // What an earlier run may have lowered still has its old value in the file.
    const { lowered } = this.#context.intents;
    const known = (pooler: string): string | undefined => lowered.find((one) => one.pooler === pooler)?.before;
    const { signal } = this.#context.scope;
    return loginRetries(targets, (pooler) => known(pooler) ?? beforeOf(pooler), { limitMs: commandMs, signal });
  }

  #handsOf(
    run: SwitchoverRun,
    plan: SwitchoverPlan,
    parts: RunParts & { readonly retries: ReadonlyMap<string, LoginRetry> },
  ): SwitchoverHands {
    const { now, intents, preflight, isChangePending, request, view, heldMs, onLeft } = this.#context;
    const { cluster } = plan;
    const { caller, targets, retries } = parts;
    const begunMs = now();
    const claim = this.#claimOf(plan, parts);
    const hands = this.#pauseHands(run, { plan, claim, targets, retries });
    // The number of the run, and the evidence, are those of the moment when it is armed.
    let known: FinishableIntent | null = null;
    const intent = (): FinishableIntent => (known ??= this.#intentOf(plan, targets, claim.generation));
    const pending = new PendingChange({ now, read: () => isChangePending(cluster) });
    const leader = this.#leaderOf(cluster, parts.request.routeWaitMs);
    return {
      preflight: () => preflight(parts.request, heldMs(heldKeyOf(plan))),
      claim,
      safeguards: this.#safeguards(run, { plan, parts, claim, intent, hands }),
      targets: hands,
      request: (mayStill) => request(plan, caller, mayStill),
      primary: () => {
        const seen = view(cluster);
        if (plan.restart !== null) return seenRestart(seen, { name: plan.leader, ...plan.restart });
        // Only a report that is newer than the last refusal counts: a leader that is lost twice may answer in between.
        const lostMs = Math.max(begunMs, ...hands.map(({ askedAtMs }) => askedAtMs ?? begunMs));
        const node =
          plan.start === "loss" ? primaryAfterLoss(seen, plan.leader, lostMs + recoveryMs) : servingPrimary(seen);
        return { node, pending: isUnknown(run.state) ? pending.look() : "unknown" };
      },
      lead: (route, node) => leader.lead(plan.routes[route], node),
      close: (target) => intents.close(plan.targets[target] ?? { pooler: "", database: "" }),
      leave: (target) => {
        const left = targets[target];
        if (left !== undefined) onLeft(intent(), left);
      },
    };
  }

  #pauseHands(
    run: SwitchoverRun,
    {
      plan,
      claim,
      targets,
      retries,
    }: Pick<RunParts, "targets"> & {
      readonly plan: SwitchoverPlan;
      readonly claim: OwnClaim;
      readonly retries: ReadonlyMap<string, LoginRetry>;
    },
  ): readonly PauseHand[] {
    const { now } = this.#context;
    const by = {
      run: plan.run,
      cluster: plan.cluster,
      get generation() {
        return claim.generation;
      },
    };
    return targets.map(
      ({ pooler, database, console }, target) =>
        new PauseHand({
          target: { by, database, console },
          retry: retries.get(pooler) ?? new LoginRetry({ console, before: null, limitMs: commandMs }),
          limits: { commandMs, pauseMs: plan.limits.pauseMs + commandMs, pollMs },
          mayPause: () => run.mayPause(),
          areEarlierOver: () => claim.areEarlierOver,
          lead: () => run.leadLast(target),
          now,
          onEvent: (event) => run.happened({ ...event, target }),
        }),
    );
  }

  #safeguards(
    run: SwitchoverRun,
    {
      plan,
      parts,
      claim,
      intent,
      hands,
    }: {
      readonly plan: SwitchoverPlan;
      readonly parts: RunParts & { readonly retries: ReadonlyMap<string, LoginRetry> };
      readonly claim: OwnClaim;
      readonly intent: () => FinishableIntent;
      readonly hands: readonly PauseHand[];
    },
  ): readonly Safeguard[] {
    const { intents, now, wall, guardian } = this.#context;
    const { armMs, deadlineMs } = plan.limits;
    return [
      intentSafeguard(intents, intent, {
        prepare: () => Promise.all(hands.map((hand) => hand.prepare())),
        claimed: () => claim.written,
        lowered: () => loweredBy(parts),
        wall,
      }),
      new Guardian({
        process: guardian,
        guarded: () => this.#guardedRun(plan, intent(), parts.request.routeWaitMs),
        leftMs: armMs + deadlineMs,
        onLost: (why, hasTakenOver) => run.happened({ kind: "guardian_lost", why, hasTakenOver }),
      }),
      ...parts.peers.map(
        (peer, at) =>
          new PeerLink(peer, intent, {
            onEcho: (sentAtMs) => {
              claim.heard(peer.name, now() - (performance.now() - sentAtMs));
              run.happened({ kind: "echo", peer: at });
            },
            onTakenOver: (by) => run.happened({ kind: "fenced", by }),
          }),
      ),
    ];
  }

  #claimOf(
    { run, cluster, targets }: SwitchoverPlan,
    { request, peers }: Pick<RunParts, "request" | "peers">,
  ): OwnClaim {
    const { claims, now, self, grantors, holdsAfterLoss } = this.#context;
    const isHurried = !isAsked(request.start);
    const databases = targets.map(({ pooler, database }) => ({ pooler, database }));
    return new OwnClaim({
      claims,
      grantors: [
        ...(request.isUnguarded ? [] : grantors(isHurried)),
        ...peers.map((peer) => peerGrantor(peer, isHurried)),
      ],
      claim: { run, cluster, by: self.name, instance: self.instance, databases },
      isAgreed: request.start === "loss" && holdsAfterLoss(cluster),
      now,
    });
  }

  #intentOf(
    { run, cluster, limits, start, restart, leader, candidate }: SwitchoverPlan,
    targets: readonly IntendedPause[],
    generation: number,
  ): FinishableIntent {
    const { wall, view } = this.#context;
    const seen = view(cluster);
    const evidence = seen === null ? { systemIdentifier: null, timeline: null } : evidenceOf(seen, leader);
    const deadlineWallMs = wall() + limits.armMs + limits.deadlineMs;
    const ofRestart = restart === null ? {} : { restart };
    const finish = { generation, start, leader, candidate, mayBeRequested: !isAsked(start), evidence, ...ofRestart };
    return { run, cluster, deadlineWallMs, targets, finish };
  }

  #guardedRun(plan: SwitchoverPlan, intent: GuardedRun["intent"], routeWaitMs: number): GuardedRun {
    const config = this.#context.config();
    const own = (databases: readonly { readonly cluster: string }[]): boolean =>
      databases.some(({ cluster }) => cluster === plan.cluster);
    return {
      intent,
      plan: { ...plan, limits: { ...plan.limits, quietMs: finishingQuietMs } },
      routeWaitMs,
      intentsPath: this.#context.intents.path,
      config: {
        ...config,
        clusters: config.clusters.filter(({ name }) => name === plan.cluster),
        poolers: config.poolers
          .filter(({ databases }) => own(databases))
          .map((pooler) => ({
            ...pooler,
            databases: pooler.databases.filter(({ cluster }) => cluster === plan.cluster),
          })),
        balancers: config.balancers.filter(({ haproxy }) => own(haproxy.backends)),
        listen: [],
      },
    };
  }

  #leaderOf(cluster: string, waitMs: number): RouteLeader {
    const { lead, checks, view, now, setTimer } = this.#context;
    const nodes = (): readonly string[] => view(cluster)?.cluster.nodes.map(({ node: { name } }) => name) ?? [];
    return new RouteLeader({ cluster, lead, checks, nodes, waitMs, now, setTimer });
  }

  #onError({ cluster, run }: SwitchoverPlan): (error: unknown) => void {
    return (error) => this.#context.log.error({ err: error, cluster, run }, "internal error in a switchover");
  }
}

/** The settings that a run lowers before its RESUMEs. */
function loweredBy({
  targets,
  retries,
}: {
  readonly targets: readonly IntendedPause[];
  readonly retries: ReadonlyMap<string, LoginRetry>;
}): readonly LoweredSetting[] {
  return [...retries].flatMap(([pooler, { before }]) => {
    const console = targets.find((target) => target.pooler === pooler)?.console;
    return before === null || console === undefined ? [] : [{ pooler, console, before }];
  });
}

/** Whether nobody knows what the cluster makes of the request. */
function isUnknown(state: SwitchoverState): boolean {
  return state.kind === "switching" && state.request === "unknown";
}
