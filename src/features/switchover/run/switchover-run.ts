import type { CancelTimer, SetTimer } from "../../../core/cluster/timer.ts";
import { inTime } from "../../../core/state/files/in-time.ts";
import type { Preflight } from "../preflight/preflight-line.ts";
import { adoptSwitchover, advanceSwitchover, beginSwitchover, wakeAtMs, type AdoptedRun } from "../machine/advance.ts";
import { isWatched } from "../machine/after-loss.ts";
import type { StepName, SwitchoverEffect } from "../machine/effect.ts";
import type { Pending, RequestResult, SwitchoverEvent } from "../machine/event.ts";
import { fileRoutesOf, type SwitchoverPlan } from "../machine/plan.ts";
import type { Outcome, SwitchoverState } from "../machine/state.ts";
import type { SwitchoverTransition } from "../machine/transition.ts";

/** Carries out the effects on one target. None of its methods waits or throws. */
export interface TargetHand {
  pause(): void;
  readPaused(): void;
  /** The clients that wait are cut right before RESUME. */
  cutFirst(): void;
  resume(): void;
  close(): void;
  /** For how long clients have been held, or were held, in ms; `null` if they never were, or if that is not known. */
  readonly heldMs: number | null;
  /** How many clients were seen to wait last; `null` if that is not known. */
  readonly waiting: number | null;
}

/** What finishes a run if this process cannot: the intent on the disk, the guardian process, a peer. */
export interface Safeguard {
  /** `intent`, `guardian` or the name of a peer, as the machine waits for it. */
  readonly name: string;
  /** Gets ready to finish the run; once more if what did has ended. @returns why that failed; `null` if it is ready */
  arm(): Promise<string | null>;
  /**
   * Says that the switchover is requested next: from then on, whoever finishes the run leads the clients to a new primary
   * before it resumes them.
   * @param leftMs until everything has to be resumed, in ms
   * @returns why it does not know; `null` once it does
   */
  tell(leftMs: number): Promise<string | null>;
  /**
   * Says that this process lives.
   * @param open positions of the targets that may still be paused
   * @param leftMs until everything has to be resumed, in ms
   * @param watched those of them that were not paused yet: they are held after a loss once they refuse their clients
   */
  beat(open: readonly number[], leftMs: number, watched: readonly number[]): void;
  /** Nothing is paused any more. @param left positions of targets that may be, and are tried on without the run */
  disarm(left: readonly number[]): void;
}

/** The right to run: no other run of the cluster goes on meanwhile. */
export interface RunClaim {
  /** Asks for it. @returns why this run must not begin; `null` if it may */
  take(): Promise<string | null>;
  /** Whether it is sure at this instant: what is sent now belongs to the only run of the cluster. */
  isHeld(): boolean;
  /** Gives it back. */
  release(): void;
}

/** What carries out a switchover. */
export interface SwitchoverHands {
  readonly preflight: () => Promise<Preflight>;
  readonly claim: RunClaim;
  readonly safeguards: readonly Safeguard[];
  readonly targets: readonly TargetHand[];
  /** @param mayStill whether it may be sent, looked at when the connection is open: nothing may be sent too late */
  readonly request: (mayStill: () => boolean) => Promise<RequestResult>;
  /** The node that rolecall says yes to for `/primary`, and whether a failover is pending. */
  readonly primary: () => { readonly node: string | null; readonly pending: Pending };
  /**
   * Tries once to lead a route to a node.
   * @returns how it is known that the route leads there; a text that says what is missing if it does not yet
   */
  readonly lead: (route: number, node: string) => Promise<"verified" | "waited" | { readonly missing: string }>;
  /** Says durably that nothing is paused at a target. @throws Error if it cannot be said */
  readonly close: (target: number) => Promise<void>;
  /** Takes over a target that the run leaves although it may be paused. */
  readonly leave: (target: number) => void;
}

/** What a run depends on. */
export interface RunContext {
  readonly plan: SwitchoverPlan;
  readonly now: () => number;
  readonly setTimer: SetTimer;
  /** Reports an internal error. */
  readonly onError: (error: unknown) => void;
  readonly onStep: (step: RecordedStep) => void;
  readonly onEnd: (outcome: Outcome) => void;
}

/** A step, and when it was reached after the start of the run, in ms. */
export interface RecordedStep {
  readonly step: StepName;
  readonly text: string | null;
  readonly afterMs: number;
}

/** How often the machine runs while clients are held, in ms. */
const tickMs = 50;
/** How often safeguards hear that this process lives, in ms. */
const beatMs = 250;
/**
 * How long after the limit of a hold others wait until they end it, in ms: it may well come to its limit, and this process
 * cuts clients then, if it shall.
 */
const endMs = 1_000;
/** The time between two attempts to lead a route, in ms. */
const routeRetryMs = 50;
/** Of the attempt to lead a target right before its RESUME, in ms. */
const lastRouteMs = 1_000;

/**
 * Runs one switchover: passes events to the machine, and carries out its effects. The machine decides everything.
 */
export class SwitchoverRun {
  readonly #context: RunContext;
  readonly #hands: SwitchoverHands;
  readonly #startedMs: number;
  readonly #steps: RecordedStep[] = [];
  #state: SwitchoverState;
  #preflight: Preflight | null = null;
  /** Events that came while the machine ran. */
  readonly #events: SwitchoverEvent[] = [];
  #isRunning = false;
  /** The next run of the machine if nothing happens before. */
  #timer: { readonly atMs: number; readonly cancel: CancelTimer } | null = null;
  #beatAtMs = -Infinity;
  /** The node that routes are led to; attempts for another one end. */
  #routedNode: string | null = null;
  /** The routes that are being led to this node. */
  #leading = new Set<number>();
  /** The targets that the run has left although they may be paused. */
  readonly #left: number[] = [];
  /** The targets whose intent is being closed. */
  readonly #closing = new Set<number>();
  /** Resolves when clients are held, or will not be. */
  readonly decided: Promise<void>;
  #resolveDecided: () => void = () => {};
  /** Resolves when no client is held any more: at the end, or when only a primary is waited for. */
  readonly released: Promise<void>;
  #resolveReleased: () => void = () => {};
  /** Resolves at the end. */
  readonly ended: Promise<void>;
  #resolveEnded: () => void = () => {};

  constructor(context: RunContext, hands: (run: SwitchoverRun) => SwitchoverHands) {
    this.#context = context;
    this.#startedMs = context.now();
    this.#hands = hands(this);
    this.#state = { kind: "checking", untilMs: Infinity };
    this.decided = new Promise((resolve) => {
      this.#resolveDecided = resolve;
    });
    this.released = new Promise((resolve) => {
      this.#resolveReleased = resolve;
    });
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  get plan(): SwitchoverPlan {
    return this.#context.plan;
  }

  get state(): SwitchoverState {
    return this.#state;
  }

  get steps(): readonly RecordedStep[] {
    return this.#steps;
  }

  get preflight(): Preflight | null {
    return this.#preflight;
  }

  /** How long ago it began, in ms. */
  get elapsedMs(): number {
    return this.#context.now() - this.#startedMs;
  }

  /** For how long the clients of each target have been held, or were held, in ms; `null` if not, or not known. */
  get heldMs(): readonly (number | null)[] {
    return this.#hands.targets.map(({ heldMs }) => heldMs);
  }

  /** How many clients of each target were seen to wait last; `null` if that is not known. */
  get waiting(): readonly (number | null)[] {
    return this.#hands.targets.map(({ waiting }) => waiting);
  }

  /** Begins. To be called once. */
  start(): void {
    this.#follow(beginSwitchover(this.plan, this.#context.now()));
    this.#runLater();
  }

  /** Goes on with a run of another process, in place of {@link start}. */
  adopt(adopted: AdoptedRun): void {
    this.#follow(adoptSwitchover(this.plan, adopted, this.#context.now()));
    this.#runLater();
  }

  /** Passes an event to the machine. Does not throw. */
  happened(event: SwitchoverEvent): void {
    this.#events.push(event);
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift())
        this.#follow(advanceSwitchover(this.plan, this.#state, { event: next, nowMs: this.#context.now() }));
    } finally {
      this.#isRunning = false;
    }
    this.#runLater();
  }

  /** Whether PAUSE may be sent now: looks at the time anew. */
  mayPause(): boolean {
    const before = this.#state;
    // After a loss nothing aborts a run that stood still: others may have resumed everything meanwhile.
    if ("ranAtMs" in before && this.#context.now() - before.ranAtMs > this.plan.limits.silenceMs) return false;
    this.happened({ kind: "tick" });
    const state = this.#state;
    const isPausing = state.kind === "pausing" || (state.kind === "switching" && state.request === "lost");
    return isPausing && this.#hands.claim.isHeld();
  }

  /** Whether the switchover may be requested now: looks at the time anew. Who stood still may have been taken over. */
  mayRequest(): boolean {
    const before = this.#state;
    if ("ranAtMs" in before && this.#context.now() - before.ranAtMs > this.plan.limits.silenceMs) return false;
    this.happened({ kind: "tick" });
    return this.#state.kind === "switching" && this.#state.request === "sent" && this.#hands.claim.isHeld();
  }

  /**
   * Tries once to lead the database of a target to the new primary, if it is not seen to lead there. To be called right
   * before its RESUME: a console that was cut off beyond the deadline is back just now, with the old route. Never rejects.
   */
  async leadLast(target: number): Promise<void> {
    const node = this.#routedNode;
    const leading = this.#leading;
    if (node === null) return;
    const own = fileRoutesOf(this.plan, target).filter((route) => leading.has(route));
    const attempts = own.map(async (route) => {
      try {
        const result = await this.#hands.lead(route, node);
        if (typeof result !== "string" || this.#leading !== leading) return;
        leading.delete(route);
        this.happened({ kind: "routed", route, by: result });
      } catch (error) {
        this.#context.onError(error);
      }
    });
    await inTime(Promise.all(attempts), lastRouteMs);
  }

  /** To be called when the state of the cluster has changed. */
  clusterChanged(): void {
    if (isWatching(this.#state)) this.#lookAtPrimary();
  }

  #follow({ state, effects }: SwitchoverTransition): void {
    this.#state = state;
    if (isDecided(state)) this.#resolveDecided();
    if (state.kind === "following" || state.kind === "ended") this.#resolveReleased();
    for (const effect of effects) {
      try {
        this.#carryOut(effect);
      } catch (error) {
        this.#context.onError(error);
      }
    }
  }

  #carryOut(effect: SwitchoverEffect): void {
    const { targets } = this.#hands;
    switch (effect.kind) {
      case "check":
        return this.#check();
      case "claim":
        return this.#claim();
      case "arm":
        for (const safeguard of this.#hands.safeguards) this.#arm(safeguard);
        return;
      case "guard":
        for (const safeguard of this.#hands.safeguards) if (safeguard.name === "guardian") this.#arm(safeguard);
        return;
      case "pause":
        return targets[effect.target]?.pause();
      case "read_paused":
        return targets[effect.target]?.readPaused();
      case "resume":
        return targets[effect.target]?.resume();
      case "tell":
        for (const safeguard of this.#hands.safeguards) this.#tell(safeguard);
        return;
      case "leave":
        this.#left.push(effect.target);
        return this.#hands.leave(effect.target);
      case "request":
        void this.#hands
          .request(() => this.mayRequest())
          .then(
            (result) => this.happened({ kind: "answered", result }),
            (error: unknown) =>
              this.#failed(error, { kind: "answered", result: { kind: "unknown", reason: "internal error" } }),
          );
        return;
      case "route":
        return this.#route(effect.node);
      case "cut":
        for (const hand of targets) hand.cutFirst();
        return;
      case "close":
        return this.#close(effect.target);
      case "disarm":
        return this.#disarm();
      case "step":
        return this.#record(effect.step, effect.text);
      case "end":
        return this.#end(effect.outcome);
    }
  }

  #check(): void {
    void this.#hands.preflight().then(
      (preflight) => this.#onChecked(preflight),
      (error: unknown) => this.#failed(error, { kind: "checked", refusal: "the checks failed: internal error" }),
    );
  }

  #onChecked(preflight: Preflight): void {
    this.#preflight = preflight;
    this.happened({ kind: "checked", refusal: preflight.refusal });
  }

  #claim(): void {
    void this.#hands.claim.take().then(
      (refusal) => this.happened({ kind: "claimed", refusal }),
      (error: unknown) => this.#failed(error, { kind: "claimed", refusal: "the claim failed: internal error" }),
    );
  }

  #tell(safeguard: Safeguard): void {
    const part = safeguard.name;
    const leftMs = "deadlineMs" in this.#state ? Math.max(0, this.#state.deadlineMs - this.#context.now()) : 0;
    void safeguard.tell(leftMs).then(
      (problem) => this.happened({ kind: "told", part, problem }),
      (error: unknown) => this.#failed(error, { kind: "told", part, problem: "internal error" }),
    );
  }

  #arm(safeguard: Safeguard): void {
    const part = safeguard.name;
    void safeguard.arm().then(
      (problem) => this.happened(problem === null ? { kind: "armed", part } : { kind: "not_armed", part, problem }),
      (error: unknown) => this.#failed(error, { kind: "not_armed", part, problem: "internal error" }),
    );
  }

  #route(node: string): void {
    if (this.#routedNode !== node) this.#leading = new Set();
    this.#routedNode = node;
    for (const route of this.plan.routes.keys()) {
      if (this.#leading.has(route)) continue;
      this.#leading.add(route);
      this.#leadUntilDone(route, node, this.#leading);
    }
  }

  #leadUntilDone(route: number, node: string, leading: Set<number>): void {
    const isOver = (): boolean => this.#state.kind === "ended" || this.#leading !== leading || !leading.has(route);
    const attempt = async (): Promise<void> => {
      while (!isOver()) {
        const result = await this.#hands.lead(route, node);
        if (isOver()) return;
        if (typeof result === "string") {
          leading.delete(route);
          return this.happened({ kind: "routed", route, by: result });
        }
        this.happened({ kind: "not_routed", route, problem: result.missing });
        await new Promise<void>((resolve) => void this.#context.setTimer(resolve, routeRetryMs));
      }
    };
    void attempt().catch((error: unknown) => this.#context.onError(error));
  }

  #close(target: number): void {
    if (this.#closing.has(target)) return;
    this.#closing.add(target);
    void this.#hands
      .close(target)
      .then(
        () => this.happened({ kind: "closed", target }),
        // It is tried again with the next repetition: nothing is paused there meanwhile.
        (error: unknown) => this.#context.onError(error),
      )
      .finally(() => this.#closing.delete(target));
  }

  #record(step: StepName, text: string | null): void {
    const recorded = { step, text, afterMs: this.elapsedMs };
    this.#steps.push(recorded);
    this.#context.onStep(recorded);
  }

  #end(outcome: Outcome): void {
    this.#disarm();
    for (const target of this.#hands.targets) target.close();
    this.#hands.claim.release();
    this.#context.onEnd(outcome);
    this.#resolveEnded();
  }

  #disarm(): void {
    for (const safeguard of this.#hands.safeguards) safeguard.disarm(this.#left);
  }

  #failed(error: unknown, event: SwitchoverEvent): void {
    this.#context.onError(error);
    this.happened(event);
  }

  #lookAtPrimary(): void {
    this.happened({ kind: "primary", ...this.#hands.primary() });
  }

  /** A timer that comes in time stays: what happens all the time must not put off the next sign of life. */
  #runLater(): void {
    const wakeMs = wakeAtMs(this.#state);
    if (wakeMs === null) return this.#cancelTimer();
    const nowMs = this.#context.now();
    const untilWakeMs = Math.max(0, wakeMs - nowMs);
    const delayMs = isGuarded(this.#state) || isWatching(this.#state) ? Math.min(tickMs, untilWakeMs) : untilWakeMs;
    const atMs = nowMs + delayMs;
    if (this.#timer !== null && this.#timer.atMs <= atMs) return;
    this.#cancelTimer();
    this.#timer = { atMs, cancel: this.#context.setTimer(() => this.#tick(), delayMs) };
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #tick(): void {
    this.#timer = null;
    if (isWatching(this.#state)) this.#lookAtPrimary();
    else this.happened({ kind: "tick" });
    this.#beat();
  }

  /** After the machine has looked at the time: a process that stood still does not say that all is well. */
  #beat(): void {
    const state = this.#state;
    const nowMs = this.#context.now();
    if (!isGuarded(state) || nowMs - this.#beatAtMs < beatMs) return;
    this.#beatAtMs = nowMs;
    const { targets, limits } = this.plan;
    const isHeld = state.kind !== "arming";
    const open = [...targets.keys()].filter((target) => !isHeld || state.targets[target] !== "closed");
    const graceMs = this.plan.start === "loss" ? endMs : 0;
    const leftMs = isHeld ? Math.max(0, state.deadlineMs - nowMs) + graceMs : limits.armMs + limits.deadlineMs;
    const watched = isHeld ? [...targets.keys()].filter((target) => isWatched(state.targets[target])) : open;
    for (const safeguard of this.#hands.safeguards) safeguard.beat(open, leftMs, watched);
  }
}

/** Whether clients are held, or will not be. */
function isDecided({ kind }: SwitchoverState): boolean {
  return kind !== "checking" && kind !== "claiming" && kind !== "arming" && kind !== "pausing" && kind !== "telling";
}

/** Whether something may be paused that this run answers for, or will be as soon as all safeguards are ready. */
function isGuarded(
  state: SwitchoverState,
): state is Extract<SwitchoverState, { readonly kind: "arming" } | { readonly targets: unknown }> {
  return state.kind === "arming" || ("targets" in state && state.kind !== "following");
}

/** Whether the machine waits for a primary, or for the loss of one. */
function isWatching({ kind }: SwitchoverState): boolean {
  return kind !== "checking" && kind !== "claiming" && kind !== "arming" && kind !== "ended";
}
