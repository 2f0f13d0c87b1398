import { randomBytes } from "node:crypto";
import type { EndedSwitchover } from "../cluster/ended-switchover.ts";
import type { HoldAnswer } from "../cluster/hint.ts";
import type { SetTimer } from "../cluster/timer.ts";
import type { JsonObject } from "../cluster/values/json.ts";
import type { Config } from "../config/model/config.ts";
import type { ClusterView } from "../health/evidence/leadership/cluster-view.ts";
import type { Caller } from "../http/message/caller.ts";
import type { BackendCount } from "../http/message/server-census.ts";
import type { Logger } from "../log/logger.ts";
import { inTime } from "../state/files/in-time.ts";
import { Guardian } from "./guardian/guardian.ts";
import { GuardianProcesses } from "./guardian/guardian-processes.ts";
import { checkedRoute } from "./hands/checked-route.ts";
import { PendingChange } from "./hands/pending-change.ts";
import { PauseHand } from "./hands/pause-hand.ts";
import { intentSafeguard } from "./run/intent-safeguard.ts";
import type { IntentFile } from "./intent/intent-file.ts";
import type { IntendedPause, PauseIntent } from "./intent/pause-intent.ts";
import { LeftPauses, type LeftPausesContext } from "./left-pauses.ts";
import type { RequestResult } from "./machine/event.ts";
import type { SwitchoverPlan } from "./machine/plan.ts";
import type { Outcome, SwitchoverState } from "./machine/state.ts";
import type { Preflight } from "./preflight/preflight-line.ts";
import { checkedRouteName, pausedBy, planOf, type SwitchoverRequest } from "./run/plan-of.ts";
import { type BeginRefusal, alreadyRunning, refused } from "./run/begin-refusal.ts";
import { holdAnswerOf, notHeld } from "./run/hold-answer.ts";
import { announcedRequest, readSwitchoverRequest } from "./run/read-request.ts";
import { type KnownRun, KnownRuns } from "./run/known-runs.ts";
import { type ResumeResult, resumePoolers } from "./hands/resume-poolers.ts";
import { endedSwitchover, runDocument, type RunDocument } from "./run/run-document.ts";
import { type RecordedStep, type Safeguard, type SwitchoverHands, SwitchoverRun } from "./run/switchover-run.ts";

/** What seamless switchovers depend on. */
export interface SwitchoversContext {
  readonly log: Logger;
  readonly config: () => Config;
  readonly intents: IntentFile;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /** In ms since the epoch. */
  readonly wall: () => number;
  readonly setTimer: SetTimer;
  /** The evidence of a cluster now; `null` if it is not monitored. */
  readonly view: (cluster: string) => ClusterView | null;
  /** The node that rolecall says yes to for `/primary`; `null` if there is none. */
  readonly primary: (cluster: string) => string | null;
  /** Whether a change of a cluster's leader is pending in its DCS; `null` if it is not known. */
  readonly isChangePending: (cluster: string) => Promise<boolean | null>;
  readonly preflight: (request: SwitchoverRequest, heldMs: readonly number[]) => Promise<Preflight>;
  readonly request: (plan: SwitchoverPlan, caller: Caller) => Promise<RequestResult>;
  /** The checks of each server that HAProxy names. */
  readonly checks: () => Promise<readonly BackendCount[]>;
  readonly balancersOf: (cluster: string) => readonly string[];
  readonly lead: (
    balancer: string,
    to: { readonly cluster: string; readonly node: string },
    limitMs: number,
  ) => Promise<string | null>;
  /** The safeguards of a run beside this machine. @param onLost a peer has taken over */
  readonly peers: (intent: PauseIntent, events: PeerEvents) => readonly Safeguard[];
  readonly onStep: (plan: SwitchoverPlan, step: RecordedStep) => void;
  readonly onEnd: (ended: EndedSwitchover) => void;
}

/** What peers report of a run. Peers are positions in the list of the plan. */
export interface PeerEvents {
  readonly onEcho: (peer: number) => void;
  readonly onTakenOver: (by: string) => void;
}

/** The answer to a call. */
export interface CallAnswer {
  readonly status: number;
  readonly document: object;
  /** The code of a refusal; `null` if a run has begun. */
  readonly error: string | null;
}

/** What a run is made from, in addition to its plan. */
interface RunParts {
  readonly request: SwitchoverRequest;
  readonly caller: Caller;
  /** Those of the plan, in the same order. */
  readonly targets: readonly IntendedPause[];
}

/** One attempt to lead a route, by its position in the plan. */
interface LeadingTo {
  readonly route: number;
  readonly node: string;
  /** Since when this is wanted, in ms of rolecall's clock. */
  readonly sinceMs: number;
  /** How long to wait where the route cannot be read, in ms. */
  readonly waitMs: number;
}

/** Of each command but PAUSE, in ms. */
const commandMs = 1_000;
/** Between two looks at a pooler that is read again, in ms. */
const pollMs = 20;
/** Of one attempt to lead a balancer to the new primary, in ms. */
const leadMs = 2_000;
/** Until an announcement is answered, in ms: its caller waits for 1 s in all. */
const announcedMs = 900;
/** How many held times of a cluster the forecast is made from. */
const heldMax = 10;

/** The seamless switchovers of this process: one of a cluster at a time. */
export class Switchovers {
  readonly #context: SwitchoversContext;
  readonly #runs = new KnownRuns();
  readonly #guardians: GuardianProcesses;
  readonly #heldMs = new Map<string, readonly number[]>();
  readonly #left: LeftPauses;
  #isStopped = false;

  constructor(context: SwitchoversContext) {
    this.#context = context;
    const { log, intents, setTimer, config } = context;
    const databases = (): ReturnType<LeftPausesContext["databases"]> =>
      config().clusters.flatMap(({ name: cluster }) =>
        pausedBy(config(), cluster).map((target) => ({ ...target, cluster })),
      );
    this.#guardians = new GuardianProcesses(setTimer);
    this.#left = new LeftPauses({ log, intents, setTimer, databases });
  }

  /** Resumes what an earlier process has left paused, as {@link LeftPauses.start}. */
  start(): Promise<void> {
    this.configure();
    return this.#left.start();
  }

  /** To be called after the configuration has changed. Where stops may be announced, a guardian is kept ready for them. */
  configure(): void {
    const { listen, poolers } = this.#context.config();
    const areAnnounced = listen.some(({ access }) => access.beforeStopTokens.length > 0);
    this.#guardians.keepReady(!this.#isStopped && areAnnounced && poolers.length > 0);
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
  call(view: ClusterView, body: JsonObject, how: { readonly isDryRun: boolean; readonly caller: Caller }): CallAnswer {
    const begun = this.#begin(view, body, how);
    if (!("error" in begun)) return { status: 202, document: { ...begun, cluster: view.cluster.name }, error: null };
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
    const running = this.#runs.running(cluster);
    const isLed = running?.plan.leader === node;
    if (!isLed && view.lock.holder !== node) return notHeld(null, `${node} does not lead ${cluster}`);
    const run = isLed ? running : this.#launch(view, announcedRequest(cluster, node), caller);
    if ("error" in run) return notHeld(null, run.message);
    await inTime(run.decided, announcedMs);
    return holdAnswerOf(run);
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
  }

  /** Resumes every database of the cluster's poolers once, also those that somebody else has paused. No run may be going on there. */
  async resume(cluster: string): Promise<ResumeResult | BeginRefusal> {
    const running = this.runningOf(cluster);
    if (running !== null) return alreadyRunning(cluster, running);
    return resumePoolers(pausedBy(this.#context.config(), cluster), commandMs);
  }

  /**
   * Ends every run: one that has not requested its switchover resumes and gives up, another one is finished. Resolves
   * when nothing is paused any more.
   */
  async stop(reason: string): Promise<void> {
    this.#isStopped = true;
    this.configure();
    const runs = this.#runs.all;
    for (const { run } of runs) run.happened({ kind: "stop", reason });
    await Promise.all(runs.map(({ run }) => run.ended));
    this.#left.stop();
  }

  #begin(
    view: ClusterView,
    body: JsonObject,
    { isDryRun, caller }: { readonly isDryRun: boolean; readonly caller: Caller },
  ): { readonly run: string } | BeginRefusal {
    if (caller.principal === null)
      return refused(
        403,
        "unauthenticated",
        "Cannot begin a seamless switchover: its caller must be authenticated, got no credential",
      );
    const { cluster } = view;
    const request = readSwitchoverRequest(body, cluster, isDryRun);
    if ("problem" in request) return refused(400, "bad_request", request.problem);
    const begun = this.#launch(view, request, caller);
    return "error" in begun ? begun : { run: begun.plan.run };
  }

  #launch(view: ClusterView, request: SwitchoverRequest, caller: Caller): SwitchoverRun | BeginRefusal {
    const { cluster } = view;
    const refusal = this.#refusalOf(request);
    if (refusal !== null) return refusal;
    const { balancersOf, wall } = this.#context;
    const config = this.#context.config();
    const targets = pausedBy(config, cluster.name);
    const run = randomBytes(6).toString("hex");
    const peers = request.isUnguarded ? [] : config.peers.map(({ name }) => name);
    const plan = planOf(request, { config, view, run, targets, balancers: balancersOf(cluster.name), peers });
    const begun = this.#build(plan, { request, caller, targets });
    if (!request.isDryRun)
      for (const earlier of this.#runs.following(cluster.name))
        earlier.happened({ kind: "stop", reason: "another switchover begins" });
    this.#runs.add({ run: begun, by: caller.principal, startedWallMs: wall() });
    begun.start();
    return begun;
  }

  #refusalOf({ cluster, isDryRun }: SwitchoverRequest): BeginRefusal | null {
    const { intents } = this.#context;
    if (this.#isStopped) return refused(503, "stopping", "Cannot begin a switchover: rolecall is stopping");
    const running = this.runningOf(cluster);
    if (running !== null) return alreadyRunning(cluster, running);
    if (isDryRun && this.#runs.hasManyDryRuns(cluster))
      return refused(409, "checking", `Cannot begin a switchover of ${cluster}: several dry runs go on`);
    if (!this.isPossible(cluster))
      return refused(
        409,
        "no_pooler",
        `Cannot switch over cluster ${cluster} seamlessly: poolers must have a database of it, got none`,
      );
    if (intents.open.some((intent) => intent.cluster === cluster))
      return refused(
        409,
        "resuming",
        `Cannot begin a switchover of ${cluster}: what an earlier process has paused is not resumed yet`,
      );
    return null;
  }

  #build(plan: SwitchoverPlan, parts: RunParts): SwitchoverRun {
    const { log, now, setTimer, onStep } = this.#context;
    const onError = (error: unknown): void =>
      log.error({ err: error, cluster: plan.cluster, run: plan.run }, "internal error in a switchover");
    const runContext = {
      plan,
      now,
      setTimer,
      onError,
      onStep: (step: RecordedStep) => onStep(plan, step),
      onEnd: (outcome: Outcome) => this.#onEnd(plan, outcome),
    };
    return new SwitchoverRun(runContext, (run) => this.#handsOf(run, plan, parts));
  }

  #handsOf(run: SwitchoverRun, plan: SwitchoverPlan, { request, caller, targets: paused }: RunParts): SwitchoverHands {
    const { now, intents, primary, preflight, peers, isChangePending } = this.#context;
    const { cluster, limits } = plan;
    const targets = paused.map(
      ({ database, console }, target) =>
        new PauseHand({
          target: { run: plan.run, database, console },
          limits: { commandMs, pauseMs: limits.pauseMs + commandMs, pollMs },
          mayPause: () => run.mayPause(),
          now,
          onEvent: (event) => run.happened({ ...event, target }),
        }),
    );
    const intent = this.#intentOf(plan, paused);
    const pending = new PendingChange({ now, read: () => isChangePending(cluster) });
    /** Since when routes have been led to a node, in ms of rolecall's clock. */
    const leadSince = new Map<string, number>();
    return {
      preflight: () => preflight(request, this.#heldMs.get(cluster) ?? []),
      safeguards: [
        intentSafeguard(intents, intent, () => Promise.all(targets.map((hand) => hand.prepare()))),
        new Guardian(
          { run: plan.run, targets: paused, leftMs: limits.armMs + limits.deadlineMs },
          { process: () => this.#guardians.take(), onLost: () => run.happened({ kind: "guardian_lost" }) },
        ),
        ...(plan.peers.length === 0
          ? []
          : peers(intent, {
              onEcho: (peer) => run.happened({ kind: "echo", peer }),
              onTakenOver: (by) => run.happened({ kind: "fenced", by }),
            })),
      ],
      targets,
      request: () => this.#context.request(plan, caller),
      primary: () => ({ node: primary(cluster), pending: isUnknown(run.state) ? pending.look() : "unknown" }),
      lead: (route, node) => {
        const sinceMs = leadSince.get(node) ?? now();
        leadSince.set(node, sinceMs);
        return this.#lead(plan, { route, node, sinceMs, waitMs: request.routeWaitMs });
      },
      close: (target) => intents.close(plan.run, plan.targets[target] ?? { pooler: "", database: "" }),
    };
  }

  #intentOf({ run, cluster, limits }: SwitchoverPlan, targets: readonly IntendedPause[]): PauseIntent {
    const deadlineWallMs = this.#context.wall() + limits.checkMs + limits.armMs + limits.deadlineMs;
    return { run, cluster, deadlineWallMs, targets };
  }

  async #lead(
    { cluster, routes }: SwitchoverPlan,
    { route, node, sinceMs, waitMs }: LeadingTo,
  ): Promise<"verified" | "waited" | { readonly missing: string }> {
    const name = routes[route] ?? "";
    if (name === checkedRouteName) return this.#leadByChecks({ cluster, node }, sinceMs, waitMs);
    const missing = await this.#context.lead(name, { cluster, node }, leadMs);
    return missing === null ? "verified" : { missing };
  }

  /** The balancers check by themselves: looks what they have made of the answers. */
  async #leadByChecks(
    to: { readonly cluster: string; readonly node: string },
    sinceMs: number,
    waitMs: number,
  ): Promise<"verified" | "waited" | { readonly missing: string }> {
    const { checks, now, setTimer, view } = this.#context;
    const nodes = view(to.cluster)?.cluster.nodes.map(({ node: { name } }) => name) ?? [];
    const seen = checkedRoute(await checks(), { ...to, nodes }, now() - sinceMs);
    if (seen === "leads") return "verified";
    if (seen === "elsewhere") return { missing: `balancers that check rolecall do not lead to ${to.node} yet` };
    await new Promise<void>((resolve) => void setTimer(resolve, waitMs));
    return "waited";
  }

  #onEnd({ cluster, run: name }: SwitchoverPlan, outcome: Outcome): void {
    const known = this.#runs.find(cluster, name);
    if (known === null) return;
    const ended = endedSwitchover(known.run, outcome, known.by);
    if (outcome.kind === "switched" && ended.heldMs !== null)
      this.#heldMs.set(cluster, [...(this.#heldMs.get(cluster) ?? []), ended.heldMs].slice(-heldMax));
    const level = outcome.kind === "switched" || outcome.kind === "dry_run" ? "info" : "warn";
    this.#context.log[level]({ cluster, outcome: outcome.kind, text: ended.text }, "switchover ended");
    this.#context.onEnd(ended);
  }

  #describe({ run, by, startedWallMs }: KnownRun): RunDocument {
    return runDocument(run, { by, startedWallMs, nowMs: this.#context.now() });
  }
}

/** Whether nobody knows what the cluster makes of the request. */
function isUnknown(state: SwitchoverState): boolean {
  return state.kind === "switching" && state.request === "unknown";
}
