import * as z from "zod";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import type { Logger } from "../../../core/log/logger.ts";
import { inTime, late } from "../../../core/state/files/in-time.ts";
import type { Scope } from "../../../core/feature/scope.ts";
import {
  type HeardHolder,
  type Holder,
  isGranted,
  type LeaseAsk,
  type LeaseContext,
  type LeaseHappening,
  leaseMs,
  type LeaseState,
  nextLease,
  renewMs,
} from "./standing-lease.ts";

/** The answer to who asks for the right to hold the clients of a cluster. */
export type LeaseAnswer =
  | { readonly kind: "granted" }
  | { readonly kind: "held"; readonly holder: HeardHolder }
  /** It cannot be reached, or knows no such right: it keeps nobody from holding. */
  | { readonly kind: "silent" };

/** Somebody who is asked: a peer, or the store of a fleet. */
export interface LeaseGrantor {
  /** Whether it has to be asked to know that another one has the right: a peer says so itself. */
  readonly isStore: boolean;
  /** Never rejects. */
  ask(cluster: string, ask: LeaseAsk): Promise<LeaseAnswer>;
  /** The right is given back. Does not wait. */
  give(cluster: string, holder: Holder): void;
}

/** What standing leases depend on. */
export interface StandingLeasesContext {
  readonly log: Logger;
  readonly self: Holder;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  readonly scope: Pick<Scope, "wait" | "signal">;
  /** The clusters whose clients are held after a loss, now. */
  readonly clusters: () => readonly string[];
  readonly grantors: () => readonly LeaseGrantor[];
  /** Whether a run of this process holds clients of a cluster. */
  readonly isHolding: (cluster: string) => boolean;
}

/** How long one grantor may take, in ms. */
const askMs = 1_000;
const nameMax = 128;

const name = z.string().min(1).max(nameMax);
const askSchema = z.strictObject({
  standing: z.strictObject({ cluster: name, instance: name, by: name, state: z.enum(["new", "own", "given"]) }),
});

/** What another rolecall says of its standing lease (`POST /claims`). */
export type SaidLease = z.output<typeof askSchema>["standing"];

/** Reads the body of `POST /claims`. @returns `null` if it is about no standing lease */
export function readStanding(body: unknown): SaidLease | null {
  const read = askSchema.safeParse(body);
  return read.success ? read.data.standing : null;
}

/** The body of `POST /claims`. */
export function writtenStanding(said: SaidLease): string {
  return JSON.stringify({ standing: said });
}

/**
 * Which rolecall holds the clients of each cluster after a loss. It is taken and renewed while all is well: every 2 s its holder
 * asks the peers, or the store of the fleet, and who hears nothing of the holder for 6 s asks for itself.
 */
export class StandingLeases {
  readonly #context: StandingLeasesContext;
  readonly #states = new Map<string, LeaseState>();

  constructor(context: StandingLeasesContext) {
    this.#context = context;
  }

  /** Takes and renews, until the scope ends. Never rejects. */
  async run(): Promise<void> {
    const { scope, clusters } = this.#context;
    while (!scope.signal.aborted) {
      const names = clusters();
      for (const cluster of this.#states.keys()) if (!names.includes(cluster)) this.#forget(cluster);
      await Promise.all(names.map((cluster) => this.#renew(cluster)));
      await scope.wait(renewMs);
    }
  }

  /** What is known of a cluster now. Without peers and a fleet it is this process's own. */
  stateOf(cluster: string): LeaseState {
    const state = this.#happened(cluster, { kind: "tick" });
    return state.kind === "new" ? this.#first() : state;
  }

  /** Answers another rolecall. */
  answer({ cluster, instance, by, state }: SaidLease): LeaseAnswer {
    const { self, clusters } = this.#context;
    // Of what is not held here nothing has to be remembered.
    if (!clusters().includes(cluster)) return { kind: "granted" };
    if (state === "given") {
      this.#happened(cluster, { kind: "given", instance });
      return { kind: "granted" };
    }
    const ask: LeaseAsk = { instance, by, isOwn: state === "own" };
    const isYes = isGranted(this.#known(cluster), ask, this.#now(cluster));
    const next = this.#happened(cluster, { kind: "asked", ask });
    if (isYes) return { kind: "granted" };
    if (next.kind !== "theirs") return { kind: "held", holder: { ...self, leftMs: leaseMs } };
    return { kind: "held", holder: { ...next.holder, leftMs: next.untilMs - this.#context.now() } };
  }

  /** Gives everything back, so that others hold at once. */
  stop(): void {
    for (const cluster of this.#states.keys()) this.#forget(cluster);
  }

  async #renew(cluster: string): Promise<void> {
    const { self, grantors } = this.#context;
    const state = this.#happened(cluster, { kind: "tick" });
    const asked = grantors().filter(({ isStore }) => state.kind !== "theirs" || isStore);
    const ask: LeaseAsk = { ...self, isOwn: state.kind === "own" };
    const answers = await Promise.all(asked.map((one) => inTime(one.ask(cluster, ask), askMs)));
    const [heldBy = null] = answers.flatMap((answer) =>
      answer !== late && answer.kind === "held" ? [answer.holder] : [],
    );
    if (state.kind !== "theirs") this.#happened(cluster, { kind: "answers", heldBy });
    else if (heldBy !== null) this.#happened(cluster, { kind: "asked", ask: { ...heldBy, isOwn: true } });
  }

  #known(cluster: string): LeaseState {
    return this.#states.get(cluster) ?? this.#first();
  }

  /** Who has nobody to ask waits for nobody. */
  #first(): LeaseState {
    return { kind: this.#context.grantors().length === 0 ? "own" : "new" };
  }

  #happened(cluster: string, happened: LeaseHappening): LeaseState {
    const before = this.#known(cluster);
    const after = nextLease(before, happened, this.#now(cluster));
    this.#states.set(cluster, after);
    if (textOf(after) !== textOf(before))
      this.#context.log.info({ cluster, holder: textOf(after) }, "who holds clients after a loss of the primary");
    return after;
  }

  #now(cluster: string): LeaseContext {
    const { now, self, isHolding } = this.#context;
    return { nowMs: now(), instance: self.instance, isHolding: isHolding(cluster) };
  }

  #forget(cluster: string): void {
    const state = this.#states.get(cluster);
    this.#states.delete(cluster);
    if (state?.kind !== "own") return;
    for (const grantor of this.#context.grantors()) {
      try {
        grantor.give(cluster, this.#context.self);
      } catch (error) {
        this.#context.log.warn({ cluster, problem: errorMessage(error) }, "a standing lease is not given back");
      }
    }
  }
}

function textOf(state: LeaseState): string {
  if (state.kind === "theirs") return state.holder.by;
  return state.kind === "own" ? "this process" : "not agreed yet";
}
