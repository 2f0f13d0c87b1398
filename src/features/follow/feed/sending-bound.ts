/** How much faster one machine's clock may run than another's: twice what a computer's clock is allowed to deviate. */
const driftMax = 0.0005;

/** A token that a follower sent, and when the owner got it. Each instant is in ms of the clock of whose it is. */
export interface EchoedToken {
  readonly sentAtMs: number;
  /** Time that had been added to the follower's clock by then. */
  readonly sentAddedMs: number;
  readonly receivedAtMs: number;
  /** Time that had been added to the owner's clock by then. */
  readonly receivedAddedMs: number;
}

/** Two clocks at the same instant: what each has added so far, because its machine stood still. In ms. */
export interface AddedTimes {
  readonly follower: number;
  readonly owner: number;
}

/**
 * Bounds when the owner of a feed sent something, on the follower's clock: never later than it was. The follower sends
 * tokens, and the owner says when it got each. What the owner did later happened later, so the sending of the token is
 * the earliest instant that its receipt can have had. The two wall clocks are never compared.
 */
export class SendingBound {
  /** The follower's clock minus the owner's, at least; valid from the instant `atMs` of the follower's on. */
  #best: { readonly offsetMs: number; readonly atMs: number; readonly added: AddedTimes } | null = null;

  /** Takes an echo. One that spans a gap of either clock is ignored. */
  take({ sentAtMs, sentAddedMs, receivedAtMs, receivedAddedMs }: EchoedToken, added: AddedTimes): void {
    if (sentAddedMs !== added.follower || receivedAddedMs !== added.owner) return;
    const known = this.earliest(receivedAtMs, sentAtMs, added);
    if (known === null || sentAtMs > known) this.#best = { offsetMs: sentAtMs - receivedAtMs, atMs: sentAtMs, added };
  }

  /**
   * The earliest instant of the follower's clock, in ms, at which something can have been sent.
   * @param ownersMs when it was, in ms of the owner's clock
   * @param nowMs in ms of the follower's clock: the longer ago it was, or the echo, the further the clocks may have drifted
   * @param added what the owner had added by then; it may have added more since
   * @returns `null` while it is not known: no token came back since one of the machines stood still
   */
  earliest(ownersMs: number, nowMs: number, added: AddedTimes): number | null {
    const best = this.#best;
    if (best === null || best.added.follower !== added.follower || best.added.owner < added.owner) return null;
    const instantMs = ownersMs + best.offsetMs;
    return instantMs - driftMax * (Math.max(0, nowMs - best.atMs) + Math.max(0, nowMs - instantMs));
  }
}
