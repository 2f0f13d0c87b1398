import { randomBytes } from "node:crypto";
import type { EndedSwitchover } from "./run/ended-switchover.ts";
import type { HoldAnswer } from "../../core/cluster/hint.ts";
import type { JsonObject } from "../../core/cluster/values/json.ts";
import type { ClusterView } from "../../core/health/evidence/leadership/cluster-view.ts";
import type { Caller } from "../../core/http/message/caller.ts";
import type { Scope } from "../../core/feature/scope.ts";
import type { OwnAnswer, SeamlessSwitchovers } from "../../core/feature/switchovers.ts";
import { inTime } from "../../core/state/files/in-time.ts";
import { primaryAfterLoss, provenPrimary, servingPrimary } from "./finish/proven-primary.ts";
import { errorMessage } from "../../core/cluster/values/error-message.ts";
import { restartOf } from "./finish/restarted-node.ts";
import { holdFound, type KnownHold } from "./conditions.ts";
import { GuardianProcesses } from "./guardian/guardian-processes.ts";
import { type ResumeResult, resumePoolers } from "./hands/resume-poolers.ts";
import type { FinishIntent, IntendedPause, PauseIntent } from "./intent/pause-intent.ts";
import { LeftPauses } from "./left-pauses.ts";
import { holdingRunOf } from "./loss/holding-run.ts";
import { type HoldingRun, positionOf } from "./loss/loss-watch.ts";
import type { AdoptedRun } from "./machine/advance.ts";
import { isWatched } from "./machine/after-loss.ts";
import { actOf, type PauseTarget, pauseName, type SwitchoverPlan } from "./machine/plan.ts";
import { isLed, type Outcome, type SwitchoverState, type TargetPhase } from "./machine/state.ts";
import { isHeld } from "./machine/transition.ts";
import { peerGrantor } from "./peers/peer-grantor.ts";
import type { FinishingRun, KeptFinish } from "./peers/pause-keeper.ts";
import type { KnownServer } from "./preflight/pooler-setup.ts";
import { type BeginRefusal, alreadyRunning, refused } from "./run/begin-refusal.ts";
import { holdAnswerOf, notHeld } from "./run/hold-answer.ts";
import { type KnownRun, KnownRuns } from "./run/known-runs.ts";
import { readRestartRequest } from "./restart/restart-request.ts";
import { restartTargets } from "./restart/restart-targets.ts";
import { finishingPlan, heldKeyOf, heldOnLoss, pausedBy, planOf, type SwitchoverRequest } from "./run/plan-of.ts";
import { announcedRequest, lossRequest, readSwitchoverRequest } from "./run/read-request.ts";
import { RunBuilder, type RunBuilderContext } from "./run-builder.ts";
import { endedSwitchover, runDocument, type RunDocument } from "./run/run-document.ts";
import type { SwitchoverRun } from "./run/switchover-run.ts";

/** What seamless switchovers depend on. */
export interface SwitchoversContext extends Omit<RunBuilderContext, "guardian" | "heldMs" | "onLeft" | "onRunEnd"> {
  /** What runs have left is repeated until it ends. */
  readonly scope: Pick<Scope, "hold" | "wait" | "signal">;
  /** In ms since the epoch. */
  readonly wall: () => number;
  readonly onEnd: (ended: EndedSwitchover) => void;
  /** Clients are held since an earlier process. */
  readonly onAdopted: (cluster: string) => void;
  /** Whether another rolecall holds the clients of a cluster after a loss, or has announced a run of it here. */
  readonly isBusyElsewhere: (cluster: string) => boolean;
  /** The nodes of all clusters whose database addresses are known. */
  readonly servers: () => readonly KnownServer[];
  /** Clients are held after a loss. */
  readonly onHeld: (cluster: string, run: string, hold: KnownHold) => void;
}

/** Of each command but PAUSE, in ms. */
const commandMs = 1_000;
/** Until an announcement is answered, in ms: its caller waits for 1 s in all. */
const announcedMs = 900;
/** How many held times of a cluster the forecast is made from. */
const heldMax = 10;
/** How long a run of an earlier process may go on at most, in ms, whatever the clocks say. */
const adoptedMaxMs = 300_000;
/** How long a run that an operator has ended may take to send its RESUMEs, in ms. */
const givingUpMs = 2_000;

/** The seamless switchovers of this process: one of a cluster at a time. */
export class Switchovers implements SeamlessSwitchovers {
  readonly #context: SwitchoversContext;
  readonly #runs = new KnownRuns();
  /** The runs of other processes that are finished here. */
  readonly #finishing = new Set<SwitchoverRun>();
  readonly #guardians: GuardianProcesses;
  readonly #builder: RunBuilder;
  readonly #heldMs = new Map<string, readonly number[]>();
  /** The last run whose hold was told. */
  readonly #toldHolds = new Set<string>();
  readonly #failedHolds = new Map<string, number>();
  /** How many clients wait at each target of a run that holds them after a loss. */
  readonly #waiting = new WeakMap<SwitchoverRun, ReadonlyMap<string, number>>();
  /** Of the runs of earlier processes that hold clients after a loss: since when, and for how long at most, in ms. */
  readonly #adoptedHolds = new WeakMap<SwitchoverRun, Pick<KnownHold, "sinceMs" | "limitMs">>();
  readonly #left: LeftPauses;
  /** `stopping` is final: nothing begins any more, and what goes on is brought to its end. */
  #phase: "open" | "stopping" = "open";

  constructor(context: SwitchoversContext) {
    this.#context = context;
    const { log, intents, setTimer, config, now, scope } = context;
    const databases = (): readonly (IntendedPause & { readonly cluster: string })[] =>
      config().clusters.flatMap(({ name: cluster }) =>
        pausedBy(config(), cluster).map((target) => ({ ...target, cluster })),
      );
    this.#guardians = new GuardianProcesses(setTimer);
    this.#builder = new RunBuilder({
      ...context,
      guardian: () => this.#guardians.take(),
      heldMs: (cluster) => this.#heldMs.get(cluster) ?? [],
      onLeft: (intent, target) => this.#left.take(intent, target),
      onRunEnd: (plan, outcome) => this.#onEnd(plan, outcome),
      onStep: (plan, step) => {
        context.onStep(plan, step);
        if (plan.start === "loss" && step.step === "paused") this.#onHeld(plan);
      },
    });
    this.#left = new LeftPauses({
      log,
      intents,
      scope,
      now,
      databases,
      isHeld: (target) => this.#phasesOf(target).some(isOpenPhase),
      lead: (cluster, target) => this.#leadLeft(cluster, target),
    });
  }

  /** Finishes or resumes what an earlier process has left. Resolves when that is read. */
  async start(): Promise<void> {
    this.configure();
    await this.#context.claims.start();
    for (const intent of await this.#left.start()) this.#adopt(intent);
    this.#builder.restoreLowered();
  }

  /** To be called after the configuration has changed. Where stops may be announced, a guardian is kept ready for them. */
  configure(): void {
    const { listen, poolers } = this.#context.config();
    const areAnnounced = listen.some(({ access }) => access.beforeStopTokens.length > 0);
    const areHeld = poolers.some(({ holdOnLossMs }) => holdOnLossMs !== null);
    this.#guardians.keepReady(this.#phase === "open" && (areHeld || (areAnnounced && poolers.length > 0)));
  }

  /** How many databases of each cluster may be paused now. */
  get paused(): ReadonlyMap<string, number> {
    // The intents of runs are open ones too.
    return this.#left.counts;
  }

  /**
   * Answers the call for a seamless switchover: begins a run, and does not wait for it.
   * @param view the evidence of the cluster now
   * @param body that of the call
   */
  call(view: ClusterView, body: JsonObject, how: { readonly isDryRun: boolean; readonly caller: Caller }): OwnAnswer {
    const begun = this.#begin(view, body, how);
    if (!("error" in begun)) return { status: 202, document: { ...begun, cluster: view.cluster.name }, error: null };
    const { status, ...document } = begun;
    return { status, document, error: begun.error };
  }

  /**
   * Answers the call for a restart of the database of a node: begins a run, and does not wait for it. Asks the poolers first
   * which databases lead to the node.
   * @param body that of the call
   */
  async restart(
    view: ClusterView,
    body: JsonObject,
    { node, isDryRun, caller }: { readonly node: string; readonly isDryRun: boolean; readonly caller: Caller },
  ): Promise<OwnAnswer> {
    const cluster = view.cluster.name;
    const targets = await restartTargets(this.#context.config(), {
      cluster,
      node,
      isLeader: view.lock.holder === node,
      servers: this.#context.servers(),
    });
    const request = readRestartRequest(body, { view, node, databases: targets.map(pauseName) }, isDryRun);
    const begun =
      caller.principal === null
        ? unauthenticated("restart")
        : "problem" in request
          ? refused(400, "bad_request", request.problem)
          : this.#launch(view, request, { caller, targets });
    if (!("error" in begun)) return { status: 202, document: { run: begun.plan.run, cluster, node }, error: null };
    const { status, ...document } = begun;
    return { status, document, error: begun.error };
  }

  /**
   * Holds the clients of a cluster whose leader another program stops as soon as it has the answer, 0.9 s later at most.
   * If a switchover goes on, the answer says how far that is.
   */
  async announceStop(cluster: string, node: string, caller: Caller): Promise<HoldAnswer> {
    const view = this.#context.view(cluster);
    if (view === null) return notHeld(null, `${cluster} is not monitored`);
    this.#endLook(cluster);
    const running = this.#runs.running(cluster);
    const isStopping = running?.plan.leader === node;
    if (!isStopping && view.lock.holder !== node) return notHeld(null, `${node} does not lead ${cluster}`);
    const run = isStopping ? running : this.#launch(view, announcedRequest(cluster, node), { caller });
    if ("error" in run) return notHeld(null, run.message);
    await inTime(run.decided, announcedMs);
    return holdAnswerOf(run);
  }

  /**
   * Begins to hold the clients of a cluster whose leader may be lost (`hold_on_loss`).
   * @param leader the primary that was accepted last
   * @returns `null` if another run goes on, or none may begin
   */
  holdOnLoss(cluster: string, leader: string): HoldingRun | null {
    const view = this.#context.view(cluster);
    const held = heldOnLoss(this.#context.config(), cluster);
    // What another process has announced, or what is finished here for it, holds them already.
    if (view === null || held === null || this.#context.isBusyElsewhere(cluster)) return null;
    const begun = this.#launch(view, lossRequest(cluster, leader, held.limitMs), {
      caller: nobody,
      targets: held.targets,
    });
    if ("error" in begun) return null;
    const waiting = new Map<string, number>();
    this.#waiting.set(begun, waiting);
    return holdingRunOf(begun, waiting, this.#context.now);
  }

  /**
   * Another node is accepted as the primary than before: clients that no run holds get servers there soon. Does not wait.
   * @param node the new primary
   */
  newPrimary(cluster: string, node: string): void {
    const { config, view, scope } = this.#context;
    const { poolers } = config();
    const targets = (heldOnLoss(config(), cluster)?.targets ?? []).filter(({ pooler, database }) =>
      poolers.some(
        ({ name, databases }) => name === pooler && databases.some((one) => one.name === database && one.file !== null),
      ),
    );
    const isWanted = (target: PauseTarget): boolean =>
      this.#phase === "open" &&
      !this.#phasesOf(target).some((phase) => !isWatched(phase) && isOpenPhase(phase)) &&
      servingPrimary(view(cluster)) === node;
    if (targets.length > 0)
      void this.#builder.quickenLogins({ cluster, node, targets }, { isWanted, wait: (ms) => scope.wait(ms) });
  }

  /** What is found of a cluster: that its clients are held. */
  holdsFound(cluster: string): ReturnType<typeof holdFound> {
    return holdFound(cluster, this.holdOf(cluster), this.#context.now());
  }

  /** When the last hold of each cluster ended without a primary, in ms since the epoch. */
  get failedHolds(): ReadonlyMap<string, number> {
    return this.#failedHolds;
  }

  /** The hold of a cluster that goes on after a loss, begun by this process or by one before it; `null` if there is none. */
  holdOf(cluster: string): KnownHold | null {
    const run = this.#runs.running(cluster);
    if (run === null || run.plan.start !== "loss") return null;
    const { state, plan, heldMs } = run;
    if (!("targets" in state)) return null;
    const adopted = this.#adoptedHolds.get(run);
    const held = [...plan.targets.entries()].filter(
      ([at]) => isHeldBy(state, at) && (adopted !== undefined || (heldMs[at] ?? null) !== null),
    );
    if (held.length === 0) return null;
    const nowMs = this.#context.now();
    const since = held.map(([at]) => {
      const ms = heldMs[at] ?? null;
      return ms === null ? (adopted?.sinceMs ?? nowMs) : nowMs - ms;
    });
    const waiting = this.#waiting.get(run);
    return {
      leader: plan.leader,
      sinceMs: Math.min(...since),
      limitMs: adopted?.limitMs ?? plan.limits.deadlineMs,
      poolers: new Set(held.map(([, { pooler }]) => pooler)).size,
      clients: held.reduce(
        (sum, [at, target]) => sum + Math.max(waiting?.get(pauseName(target)) ?? 0, run.waiting[at] ?? 0),
        0,
      ),
    };
  }

  /** Whether a run of this process holds clients after a loss, or is about to. */
  isHolding(cluster: string): boolean {
    const run = this.#runs.running(cluster);
    return run !== null && run.plan.start === "loss" && !isOnlyLooking(run);
  }

  /** Whether poolers have a database of a cluster: without one nobody's clients would wait. */
  isPossible(cluster: string): boolean {
    return pausedBy(this.#context.config(), cluster).length > 0;
  }

  /** The switchover of a cluster that goes on; `null` if there is none. A dry run is none. */
  runningOf(cluster: string): string | null {
    return this.#runs.running(cluster)?.plan.run ?? null;
  }

  /**
   * A run of a cluster, which may be a dry run.
   * @param name `null`: the one that began last
   * @returns `null` if this process has begun none, or several since
   */
  find(cluster: string, name: string | null): RunDocument | null {
    const known = this.#runs.find(cluster, name);
    return known === null ? null : this.#describe(known);
  }

  /** To be called when the state of a cluster has changed. */
  clusterChanged(cluster: string): void {
    for (const { run } of this.#runs.of(cluster)) run.clusterChanged();
    for (const run of this.#finishing) if (run.plan.cluster === cluster) run.clusterChanged();
  }

  /**
   * Resumes every database of the cluster's poolers once, also those that somebody else has paused, and those that earlier
   * runs have left. A run that goes on gives up first.
   */
  async resume(cluster: string): Promise<ResumeResult> {
    const running = this.#runs.running(cluster);
    if (running !== null) {
      running.happened({ kind: "give_up", reason: "an operator has resumed everything" });
      await inTime(running.ended, givingUpMs);
    }
    const configured = pausedBy(this.#context.config(), cluster);
    const names = new Set(configured.map(pauseName));
    const left = this.#left.of(cluster).filter((target) => !names.has(pauseName(target)));
    return resumePoolers([...configured, ...left], commandMs);
  }

  /** Finishes the run that a peer has announced and no longer can finish. @returns how that is ended; `null` if it cannot begin */
  finish(
    { run, cluster, finish, targets, lowered, onResumed, onEnd }: KeptFinish,
    adopted: AdoptedRun,
  ): FinishingRun | null {
    if (this.#phase === "stopping" || this.#context.view(cluster) === null) return null;
    const takenMs = this.#context.now();
    const intent = { run, cluster, finish, deadlineWallMs: 0, targets };
    const plan = finishingPlan(intent, this.#builder.sourcesOf(cluster, targets), []);
    const finishing = this.#finishRun(
      { intent, plan, targets, lowered, adopted },
      {
        // This process has followed the cluster all the time.
        primary: () => {
          const seen = this.#context.view(cluster);
          return finish.start === "loss" ? primaryAfterLoss(seen, finish.leader, takenMs) : servingPrimary(seen);
        },
        close: (target) => {
          onResumed(target);
          return Promise.resolve();
        },
        leave: () => {},
        onEnd,
        isChangePending: () => this.#context.isChangePending(cluster),
        ...restartOf(finish, () => this.#context.view(cluster)),
      },
    );
    return {
      letGo: (target) => finishing.happened({ kind: "let_go", target }),
      stop: () => finishing.happened({ kind: "give_up", reason: "it is over" }),
    };
  }

  /**
   * Ends every run: one that has not requested its switchover resumes and gives up, another one is finished. Resolves
   * when nothing is paused any more.
   */
  async stop(reason: string): Promise<void> {
    this.#phase = "stopping";
    this.configure();
    const runs = this.#runs.all;
    for (const { run } of runs) run.happened({ kind: "stop", reason });
    await Promise.all(runs.map(({ run }) => run.ended));
  }

  #begin(
    view: ClusterView,
    body: JsonObject,
    { isDryRun, caller }: { readonly isDryRun: boolean; readonly caller: Caller },
  ): { readonly run: string } | BeginRefusal {
    if (caller.principal === null) return unauthenticated("switchover");
    const { cluster } = view;
    const request = readSwitchoverRequest(body, cluster, isDryRun);
    if ("problem" in request) return refused(400, "bad_request", request.problem);
    const begun = this.#launch(view, request, { caller });
    return "error" in begun ? begun : { run: begun.plan.run };
  }

  /** Ends a run that only looks whether poolers refuse clients: what begins now holds them. */
  #endLook(cluster: string): void {
    const running = this.#runs.running(cluster);
    if (running !== null && isOnlyLooking(running)) running.happened({ kind: "stop", reason: "a switchover begins" });
  }

  #launch(
    view: ClusterView,
    request: SwitchoverRequest,
    {
      caller,
      targets = pausedBy(this.#context.config(), view.cluster.name),
    }: { readonly caller: Caller; readonly targets?: readonly IntendedPause[] },
  ): SwitchoverRun | BeginRefusal {
    const { cluster } = view;
    if (request.start !== "loss" && !request.isDryRun) this.#endLook(cluster.name);
    const refusal = this.#refusalOf(request, targets);
    if (refusal !== null) return refusal;
    const { wall } = this.#context;
    const config = this.#context.config();
    const run = randomBytes(6).toString("hex");
    const peers = request.isUnguarded ? [] : config.peers;
    const names = peers.map(({ name }) => name);
    const plan = planOf(request, { ...this.#builder.sourcesOf(cluster.name, targets), view, run, peers: names });
    const begun = this.#builder.build(plan, { request, caller, targets, peers });
    if (!request.isDryRun)
      for (const earlier of this.#runs.following(cluster.name))
        earlier.happened({ kind: "stop", reason: "another switchover begins" });
    this.#runs.add({ run: begun, by: caller.principal, startedWallMs: wall() });
    begun.start();
    return begun;
  }

  #refusalOf(
    { cluster, isDryRun, start, leader }: SwitchoverRequest,
    targets: readonly IntendedPause[],
  ): BeginRefusal | null {
    const act = actOf({ start });
    if (this.#phase === "stopping") return refused(503, "stopping", `Cannot begin a ${act}: rolecall is stopping`);
    const running = this.runningOf(cluster);
    if (running !== null) return alreadyRunning(cluster, running);
    if (isDryRun && this.#runs.hasManyDryRuns(cluster))
      return refused(409, "checking", `Cannot begin a ${act} of ${cluster}: several dry runs go on`);
    if (act === "restart" && targets.length === 0)
      return refused(
        409,
        "no_pooler",
        `Cannot restart ${leader} of ${cluster} seamlessly: a database of poolers must lead there, got none`,
      );
    if (act === "switchover" && !this.isPossible(cluster))
      return refused(
        409,
        "no_pooler",
        `Cannot switch over cluster ${cluster} seamlessly: poolers must have a database of it, got none`,
      );
    return null;
  }

  /** How far the runs are with a target that go on. */
  #phasesOf(target: PauseTarget): readonly TargetPhase[] {
    return this.#runs.all.flatMap(({ run: { state, plan } }) => {
      const at = positionOf(plan.targets, target);
      const phase = at === null ? null : phaseOf(state, at);
      return phase === null ? [] : [phase];
    });
  }

  /** Leads a database that a run has left to the primary, if rolecall writes its file. */
  async #leadLeft(cluster: string, { pooler, database }: PauseTarget): Promise<void> {
    const { config, view, lead } = this.#context;
    const own = config()
      .poolers.find(({ name }) => name === pooler)
      ?.databases.find(({ name }) => name === database);
    const node = servingPrimary(view(cluster));
    if (node !== null && own !== undefined && own.file !== null)
      await lead(pooler, { cluster, node, database }, commandMs);
  }

  /** Goes on with the run of an earlier process. */
  #adopt(intent: PauseIntent & { readonly finish: FinishIntent }): void {
    const { intents, wall, now, view, config, isChangePending } = this.#context;
    const { cluster, targets, deadlineWallMs, finish } = intent;
    const plan = finishingPlan(intent, this.#builder.sourcesOf(cluster, targets), []);
    const leftMs = Math.min(adoptedMaxMs, Math.max(0, deadlineWallMs - wall()));
    const adopted = {
      mayBeRequested: finish.mayBeRequested,
      open: [...targets.keys()],
      watched: [...targets.entries()].flatMap(([at, target]) => (target.isHeld === true ? [] : [at])),
      deadlineMs: now() + leftMs,
      why: "rolecall ended before it had requested the switchover",
    };
    const run = this.#finishRun(
      { intent, plan, targets, lowered: intents.lowered, adopted },
      {
        primary: () => provenPrimary(view(cluster), finish.evidence, finish),
        close: (target) => intents.close(plan.targets[target] ?? { pooler: "", database: "" }),
        leave: (target) => {
          const left = targets[target];
          if (left !== undefined) this.#left.take(intent, left);
        },
        onEnd: (outcome) => {
          // The promises for it were those of the process before.
          for (const peer of config().peers) peerGrantor(peer, true).release(plan.run);
          this.#onEnd(plan, outcome);
        },
        isChangePending: () => isChangePending(cluster),
        ...restartOf(finish, () => view(cluster), provenPrimary),
      },
    );
    this.#runs.add({ run, by: null, startedWallMs: wall() });
    if (finish.start !== "loss") return;
    const limitMs = heldOnLoss(config(), cluster)?.limitMs ?? adoptedMaxMs;
    // Where that was not written down any more, the clients wait since the run was ready at the earliest.
    const sinceWallMs = finish.heldSinceWallMs ?? deadlineWallMs - limitMs;
    this.#adoptedHolds.set(run, { sinceMs: now() - Math.max(0, wall() - sinceWallMs), limitMs });
    if (finish.heldSinceWallMs !== undefined) this.#toldHolds.add(plan.run);
    this.#context.onAdopted(cluster);
  }

  #finishRun(...how: Parameters<RunBuilder["finish"]>): SwitchoverRun {
    const finishing = this.#builder.finish(...how);
    this.#finishing.add(finishing);
    void finishing.ended.then(() => this.#finishing.delete(finishing));
    return finishing;
  }

  /** The clients of a pooler are held after a loss: the first of a run is told. */
  #onHeld({ cluster, run }: SwitchoverPlan): void {
    const hold = this.holdOf(cluster);
    const running = this.#runs.running(cluster);
    if (hold === null || running === null || running.plan.run !== run) return;
    if (!this.#toldHolds.has(run)) {
      this.#toldHolds.clear();
      this.#toldHolds.add(run);
      this.#context.onHeld(cluster, run, hold);
    }
    const { intents, wall, now, log } = this.#context;
    const held = running.plan.targets.filter((_, at) => isHeld(phaseOf(running.state, at) ?? "closed"));
    intents.held(run, wall() - (now() - hold.sinceMs), held).catch((error: unknown) => {
      log.warn({ cluster, run, problem: errorMessage(error) }, "it is not written down since when clients wait");
    });
  }

  #onEnd({ cluster, run: name }: SwitchoverPlan, outcome: Outcome): void {
    const known = this.#runs.find(cluster, name);
    if (known === null) return;
    const waiting = [...(this.#waiting.get(known.run)?.values() ?? [])];
    const clients = waiting.length === 0 ? null : waiting.reduce((sum, count) => sum + count, 0);
    const ended = endedSwitchover(known.run, outcome, { by: known.by, clients });
    // The connection to the leader's database may end for many reasons: nothing came of this one.
    if (ended.start === "loss" && outcome.kind === "refused") {
      this.#runs.forget(known.run);
      this.#context.log.debug({ cluster, text: ended.text }, "looked at poolers after a sign of a loss");
      return;
    }
    if (isForecast(ended)) {
      const key = heldKeyOf(known.run.plan);
      this.#heldMs.set(key, [...(this.#heldMs.get(key) ?? []), ended.heldMs ?? 0].slice(-heldMax));
    }
    const settled = outcome.kind === "unfinished" ? outcome.of : outcome;
    if (ended.start === "loss" && settled.kind === "no_primary") this.#failedHolds.set(cluster, this.#context.wall());
    const level = isLed(settled) || outcome.kind === "dry_run" ? "info" : "warn";
    this.#context.log[level]({ cluster, outcome: outcome.kind, text: ended.text }, "switchover ended");
    this.#context.onEnd(ended);
  }

  #describe({ run, by, startedWallMs }: KnownRun): RunDocument {
    return runDocument(run, { by, startedWallMs, nowMs: this.#context.now() });
  }
}

/** Whether the next run of the same kind will probably hold clients as long as this one. */
function isForecast({ start, outcome, heldMs }: EndedSwitchover): boolean {
  return heldMs !== null && start !== "loss" && outcome === (start === "restart" ? "restarted" : "switched");
}

function unauthenticated(what: "restart" | "switchover"): BeginRefusal {
  return refused(
    403,
    "unauthenticated",
    `Cannot begin a seamless ${what}: its caller must be authenticated, got no credential`,
  );
}

/** No call has begun a hold. */
const nobody: Caller = { address: "", principal: null, consumesAuthorization: false };

/** Whether a run after a loss has paused nothing. */
function isOnlyLooking({ plan, state }: SwitchoverRun): boolean {
  if (plan.start !== "loss") return false;
  return !("targets" in state) ? state.kind !== "ended" : state.kind === "switching" && state.targets.every(isWatched);
}

/** Whether a run holds the clients of a target, or resumes it. */
function isHeldBy(state: SwitchoverState, target: number): boolean {
  const phase = phaseOf(state, target);
  return phase !== null && phase !== "unheld" && isOpenPhase(phase);
}

/** How far a run is with a target; `null`: it holds nobody yet, or no more. */
function phaseOf(state: SwitchoverState, target: number): TargetPhase | null {
  return state.kind === "following" || !("targets" in state) ? null : (state.targets[target] ?? null);
}

function isOpenPhase(phase: TargetPhase): boolean {
  return phase !== "closed" && phase !== "left";
}
