/**
 * Which of several rolecalls holds clients after a loss: it is agreed while all is well, so that nobody is asked at the loss.
 * Pure. Instants are in ms of rolecall's clock.
 */

/** A rolecall, as its peers know it. */
export interface Holder {
  readonly instance: string;
  /** For people. */
  readonly by: string;
}

/** A rolecall that has the right, and for how long that is known if nothing more is heard of it, in ms. */
export interface HeardHolder extends Holder {
  readonly leftMs: number;
}

/** What a process knows of the right to hold the clients of one cluster. */
export type LeaseState =
  /** Others are being asked, or were not asked yet. */
  | { readonly kind: "new" }
  /** This process holds them. Others that fall silent do not change that: they may be lost with the primary. */
  | { readonly kind: "own" }
  /** Another one does, until an instant if nothing is heard of it. */
  | { readonly kind: "theirs"; readonly holder: Holder; readonly untilMs: number };

/** What another rolecall asks: the right for itself. */
export interface LeaseAsk extends Holder {
  /** Whether it has it already, as it knows. */
  readonly isOwn: boolean;
}

export type LeaseHappening =
  /** All who were asked have answered, or are silent. `heldBy`: who says that it has it; `null`: nobody */
  | { readonly kind: "answers"; readonly heldBy: HeardHolder | null }
  | { readonly kind: "asked"; readonly ask: LeaseAsk }
  /** Its holder gives it back. */
  | { readonly kind: "given"; readonly instance: string }
  | { readonly kind: "tick" };

/** Who decides, and when. */
export interface LeaseContext {
  readonly nowMs: number;
  /** This process. */
  readonly instance: string;
  /** Whether a run of this process holds clients now: then it gives nothing up. */
  readonly isHolding: boolean;
}

/** How long a holder may be silent until another one takes over, and how often it is heard of, in ms. */
export const leaseMs = 6_000;
export const renewMs = 2_000;

/** The state after something has happened. */
export function nextLease(before: LeaseState, happened: LeaseHappening, context: LeaseContext): LeaseState {
  const { nowMs, isHolding } = context;
  const state = current(before, nowMs);
  switch (happened.kind) {
    case "tick":
      return state;
    case "given":
      return state.kind === "theirs" && state.holder.instance === happened.instance ? { kind: "new" } : state;
    case "answers":
      if (state.kind === "theirs" || (state.kind === "own" && (isHolding || happened.heldBy === null))) return state;
      // What others have heard of a holder is as old here as it is there: else two would remind each other of a dead one.
      return happened.heldBy === null ? { kind: "own" } : theirs(happened.heldBy, nowMs + happened.heldBy.leftMs);
    case "asked":
      return isGranted(state, happened.ask, context) ? theirs(happened.ask, nowMs + leaseMs) : state;
  }
}

/**
 * Whether the right is granted to who asks for it. Of two that ask each other at the same time, and of two that have it because
 * they could not hear each other, the one with the lower name comes first at both.
 */
export function isGranted(before: LeaseState, ask: LeaseAsk, { nowMs, instance, isHolding }: LeaseContext): boolean {
  const state = current(before, nowMs);
  const isFirst = ask.instance < instance;
  switch (state.kind) {
    case "new":
      return ask.isOwn || isFirst;
    case "own":
      return ask.isOwn && isFirst && !isHolding;
    case "theirs":
      return state.holder.instance === ask.instance;
  }
}

function current(state: LeaseState, nowMs: number): LeaseState {
  return state.kind === "theirs" && nowMs >= state.untilMs ? { kind: "new" } : state;
}

function theirs({ instance, by }: Holder, untilMs: number): LeaseState {
  return { kind: "theirs", holder: { instance, by }, untilMs };
}
