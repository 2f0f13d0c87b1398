import type { RunClaim } from "../run/switchover-run.ts";
import type { ClaimAnswer, NoAnswer } from "../../../core/cluster/run-claim.ts";
import { type Claim, claimLeaseMs } from "./claim.ts";
import type { Claims } from "./claims.ts";

/** Somebody who must grant a claim: a peer, or the store of a fleet. */
export interface Grantor {
  /** In texts: `core2`, `etcd`. */
  readonly name: string;
  /** Whether it may be silent: then only a no counts. */
  readonly isOptional: boolean;
  /** @returns its answer, or why there is none in time. Never rejects */
  ask(claim: Claim): Promise<ClaimAnswer | NoAnswer>;
  /** The claim is over. Does not wait. */
  release(run: string): void;
}

/** What a claim of this process depends on. */
export interface OwnClaimContext {
  readonly claims: Claims;
  readonly grantors: readonly Grantor[];
  readonly claim: Omit<Claim, "generation">;
  /** Whether it was agreed before that this process holds the clients after a loss: then nobody is waited for. */
  readonly isAgreed: boolean;
  readonly now: () => number;
}

/** How often a claim is asked for with a higher number, where others know one. */
const triesMax = 3;
/** Part of the lease that is left for what is under way, in ms. */
const marginMs = 2_000;

/** The claim of one run of this process: granted by everybody, or not taken. */
export class OwnClaim implements RunClaim {
  readonly #context: OwnClaimContext;
  #generation: number;
  /** Until when each grantor's yes counts, in ms of rolecall's clock. */
  readonly #untilMs = new Map<string, number>();
  #phase: "new" | "asked" | "held" | "over" = "new";
  #written: Promise<string | null> = Promise.resolve(null);

  constructor(context: OwnClaimContext) {
    this.#context = context;
    this.#generation = context.claims.next(context.claim.cluster);
  }

  /** The number of the run. It is final once the claim is held. */
  get generation(): number {
    return this.#generation;
  }

  /** Resolves when the claim that is held is on the disk. Never rejects. @returns why it is not; `null` if it is */
  get written(): Promise<string | null> {
    return this.#written;
  }

  /** Whether somebody else has promised that earlier runs are over. */
  get areEarlierOver(): boolean {
    return this.#phase === "held" && this.#untilMs.size > 0;
  }

  async take(): Promise<string | null> {
    const { claims, claim, grantors, isAgreed } = this.#context;
    this.#phase = "asked";
    if (isAgreed) return this.#takeAgreed();
    for (let tries = 0; tries < triesMax; tries += 1) {
      const asked: Claim = { ...claim, generation: this.#generation };
      const why = await claims.ask(asked);
      if (why !== null) return why;
      const askedAtMs = this.#context.now();
      const answers = await Promise.all(
        grantors.map(async (grantor) => ({ grantor, answer: await grantor.ask(asked) })),
      );
      const behind = answers.flatMap(({ answer }) =>
        answer.kind === "denied" && answer.isBehind ? [answer.generation] : [],
      );
      const refusal = answers.map(refusalOf).find((text) => text !== null) ?? null;
      if (refusal !== null) return refusal;
      if (behind.length > 0) {
        this.#generation = Math.max(this.#generation, ...behind) + 1;
        continue;
      }
      for (const { grantor, answer } of answers)
        if (answer.kind === "granted") this.#untilMs.set(grantor.name, askedAtMs + claimLeaseMs);
      if (!claims.hold(claim.run)) return `another switchover of ${claim.cluster} comes first`;
      this.#phase = "held";
      return null;
    }
    return `others know later runs of ${claim.cluster}`;
  }

  /**
   * The others hear of it, so that they begin nothing. What they say does not matter, and neither does their silence. It is
   * written while the run gets ready: clients are refused meanwhile.
   */
  #takeAgreed(): string | null {
    const { claims, claim, grantors } = this.#context;
    const asked: Claim = { ...claim, generation: this.#generation };
    const why = claims.enter(asked);
    if (why !== null) return why;
    this.#written = claims.write(asked);
    if (!claims.hold(claim.run)) return `another switchover of ${claim.cluster} comes first`;
    this.#phase = "held";
    for (const grantor of grantors) void grantor.ask(asked);
    return null;
  }

  /** A peer has heard of the run just now. */
  heard(name: string, sentAtMs: number): void {
    if (this.#untilMs.has(name)) this.#untilMs.set(name, sentAtMs + claimLeaseMs);
  }

  isHeld(): boolean {
    const nowMs = this.#context.now();
    if (this.#phase !== "held" || !this.#context.claims.isOwn(this.#context.claim.run)) return false;
    return [...this.#untilMs.values()].every((untilMs) => nowMs < untilMs - marginMs);
  }

  release(): void {
    if (this.#phase === "new" || this.#phase === "over") return;
    this.#phase = "over";
    const { claims, grantors, claim } = this.#context;
    claims.release(claim.run);
    for (const grantor of grantors) grantor.release(claim.run);
  }
}

/** Why a grantor keeps the run from beginning; `null` if it does not, or only wants a higher number. */
function refusalOf({
  grantor,
  answer,
}: {
  readonly grantor: Grantor;
  readonly answer: ClaimAnswer | NoAnswer;
}): string | null {
  if (answer.kind === "silent")
    return grantor.isOptional
      ? null
      : `${grantor.name} does not say whether another switchover goes on there: ${answer.why}`;
  return answer.kind === "granted" || answer.isBehind ? null : `${grantor.name}: ${answer.why}`;
}
