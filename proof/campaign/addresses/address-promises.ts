import { countHeld, type Violation } from "../oracle/scene.ts";
import type { Profile } from "../profile.ts";
import type { Said } from "../rolecall/asker.ts";
import { type AddressWorld, answers } from "./address-world.ts";

/** One round of questions to rolecall. */
export interface AddressRound {
  readonly nowMs: number;
  /** The answers to `/primary` and `/replica` of every member, and of members that hostile lists invent. */
  readonly said: readonly Said[];
  /** The address at which rolecall knows a member. */
  readonly addressOf: (member: string) => string | null;
}

/** What a member truly is, and since when, in ms. */
interface Truth {
  readonly origin: string;
  /** Since when it has answered there; infinite while it does not. */
  readonly thereMs: number;
  /** The check that it has to be fit for; null for none. */
  readonly route: "/primary" | "/replica" | null;
  readonly routeMs: number;
}

/**
 * How long rolecall may take to find a member at the start, in ms: the configured addresses, then those that they list,
 * each within a timeout, then the list of a server that states no name.
 */
const findMs = 10_000;
/**
 * How long it may take where addresses had failed or were another's before, in ms: probes that fail are 5 s apart, the
 * old address has to fail three times, and lists are asked for every 3 s.
 */
const regainMs = 25_000;
/** The longest rest of a request for lists that hang, in ms. */
const restMs = 60_000;

/**
 * The promises about addresses at the start, and after they have changed (rule 10). They know which server is which
 * member. They apply while most configured addresses lead to members that answer and give lists, and to more members
 * than there are hostile addresses among them.
 */
export class AddressPromises {
  readonly #world: AddressWorld;
  readonly #profile: Profile;
  readonly #armed: Map<string, number>;
  readonly #truths = new Map<string, Truth>();
  /** Member -> its address, once it had to be fit there. */
  readonly #kept = new Map<string, string>();
  /** Since when the promises apply; infinite while they do not. */
  #soundMs = Infinity;
  /** When rolecall ended its first round, in ms. */
  startedMs = Infinity;

  constructor(world: AddressWorld, profile: Profile, armed: Map<string, number>) {
    this.#world = world;
    this.#profile = profile;
    this.#armed = armed;
  }

  /** Notes the truth of an instant. To be called with every step of the model. */
  feed(nowMs: number): void {
    const { world, seats } = this.#world;
    if (!this.#isSound()) this.#soundMs = Infinity;
    else if (this.#soundMs === Infinity) this.#soundMs = nowMs;
    const holder = world.holder(nowMs);
    for (const seat of seats) {
      const { name, role, state, isStreaming } = seat.node;
      const origin = this.#world.trueOrigin(name);
      const isReplica = role === "replica" && isStreaming && holder !== null && holder !== name;
      const isPrimary = role === "primary" && holder === name;
      const route = state !== "running" ? null : isPrimary ? "/primary" : isReplica ? "/replica" : null;
      const before = this.#truths.get(name);
      const wasThere = before?.origin === origin && before.thereMs < Infinity;
      const thereMs = !answers(seat) ? Infinity : wasThere ? before.thereMs : nowMs;
      if (thereMs === nowMs || thereMs === Infinity) this.#kept.delete(name);
      this.#truths.set(name, {
        origin,
        thereMs,
        route,
        routeMs: before?.route === route ? before.routeMs : nowMs,
      });
    }
  }

  /** What is wrong with a round of answers. */
  judge(round: AddressRound): readonly Violation[] {
    const { nowMs, said, addressOf } = round;
    const found: Violation[] = [];
    const take = (rule: string, node: string | null, detail: string | null): void => {
      if (detail !== null) found.push({ rule, node, detail });
    };
    for (const answer of said) {
      take("own-evidence", answer.node, this.#isOwn(answer, addressOf));
      take("true-address", answer.node, this.#isFit(answer, addressOf));
    }
    for (const [name] of this.#truths) take("kept-address", name, this.#isKept(name, nowMs, addressOf));
    take("asked-only", null, this.#isAskedOnly(nowMs));
    const primaries = said.filter(({ check, status }) => check === "/primary" && status === 200);
    if (primaries.length > 1) take("one-primary", null, primaries.map(({ node }) => node).join(" and "));
    return found;
  }

  #isSound(): boolean {
    const { seeds } = this.#world.plan;
    const hostile = seeds.filter(({ kind }) => kind === "hostile" || kind === "clone").length;
    const sound = seeds.flatMap((seed) => {
      const seat = this.#world.soundSeat(seed);
      return seat === null ? [] : [{ kind: seed.kind, member: seat.node.name }];
    });
    // A Service may lead to a member that another address leads to, too.
    const members = new Set(sound.filter(({ kind }) => kind !== "service").map(({ member }) => member));
    return 2 * sound.length > seeds.length && Math.max(members.size, Math.min(1, sound.length)) > hostile;
  }

  /** From when on rolecall must not follow a wrong address: from the start, if the promises apply from then on. */
  get #boundMs(): number {
    if (this.#soundMs <= 0) return 0;
    return Math.max(this.startedMs, this.#soundMs + regainMs + this.#restedMs());
  }

  /** The rest that a request for a list may take, after it hung while the DCS was down. */
  #restedMs(): number {
    return this.#world.dcsDownMs > this.#soundMs - 2 * restMs ? restMs : 0;
  }

  /** No yes from another server's evidence. */
  #isOwn({ node, check, askedMs, status }: Said, addressOf: AddressRound["addressOf"]): string | null {
    if (node === null || askedMs < this.#boundMs || !this.#world.isAttacked) return null;
    countHeld(this.#armed, "own-evidence");
    if (status !== 200) return null;
    const origin = addressOf(node) ?? "";
    if (!this.#truths.has(node)) return `${check}: a yes for a member that does not exist, at ${origin}`;
    if (this.#world.strangers.has(origin)) return `${check}: a yes at ${origin}, which is no member's`;
    const { maxAgeMs, slackMs } = this.#profile;
    const evidence = this.#world.evidenceAt(origin);
    if (evidence.since(node, "status", askedMs - maxAgeMs - slackMs).length > 0) return null;
    return this.#isListLate(askedMs)
      ? null
      : `${check}: a yes at ${origin}, where it has not answered for ${maxAgeMs} ms`;
  }

  /**
   * Whether lists may still give the addresses before they were exchanged: a server that states no name is known by its
   * list alone.
   */
  #isListLate(nowMs: number): boolean {
    const { movedMs, dcsDownMs, plan } = this.#world;
    const { loopMs, clusterMs, timeoutMs, maxAgeMs } = this.#profile;
    if (plan.generation !== 3 || movedMs === -Infinity) return false;
    const knownMs = movedMs + 1.1 * loopMs + clusterMs + timeoutMs + maxAgeMs;
    return nowMs < knownMs || (dcsDownMs > movedMs - restMs && nowMs < dcsDownMs + restMs + 1.1 * loopMs);
  }

  /** From when on a member that is at its address must have been found there. */
  #foundMs({ thereMs, routeMs }: Truth): number {
    const { loopMs, intervalMs } = this.#profile;
    // Such an address is a member's after three answers (rule 10).
    const seedMs = this.#world.plan.isBehindNat ? 2 * 1.1 * intervalMs : 0;
    if (this.#soundMs <= 0 && thereMs <= 0 && this.#world.movedMs <= 0)
      return Math.max(this.startedMs, routeMs + loopMs) + findMs + seedMs;
    const lastMs = Math.max(this.#soundMs, thereMs, routeMs, this.#world.movedMs + 1.1 * loopMs);
    return Math.max(this.startedMs, lastMs + regainMs + seedMs + this.#restedMs());
  }

  /** Each member that is well is fit for what it is. */
  #isFit(answer: Said, addressOf: AddressRound["addressOf"]): string | null {
    const { node, check, askedMs, status, word } = answer;
    const truth = this.#truths.get(node ?? "");
    if (node === null || truth === undefined || truth.route !== check || askedMs < this.#foundMs(truth)) return null;
    countHeld(this.#armed, this.#world.plan.isBehindNat ? "true-address behind NAT" : "true-address");
    if (status === 200) {
      this.#kept.set(node, truth.origin);
      return null;
    }
    return `${check}: ${word?.reason}, known at ${addressOf(node)}, but it answers at ${truth.origin}`;
  }

  /** A member that was found stays at its address while it answers there, whatever others say or do not say. */
  #isKept(name: string, nowMs: number, addressOf: AddressRound["addressOf"]): string | null {
    const kept = this.#kept.get(name);
    if (kept === undefined) return null;
    // Otherwise nothing speaks against it.
    if (this.#world.isAttacked || this.#soundMs === Infinity) countHeld(this.#armed, "kept-address");
    const known = addressOf(name);
    return known === kept ? null : `known at ${known} at ${nowMs} ms, but it has answered at ${kept} all the time`;
  }

  /** Of an address that is no member's, only the status and the list are requested. */
  #isAskedOnly(nowMs: number): string | null {
    if (nowMs < this.#boundMs) return null;
    const fromMs = Math.max(this.#boundMs, nowMs - 1_000);
    for (const [origin, { node }] of this.#world.strangers) {
      const evidence = this.#world.evidenceAt(origin);
      if (evidence.since(node.name, "status", fromMs).length > 0) countHeld(this.#armed, "asked-only");
      const [other] = [...evidence.since(node.name, "other", fromMs), ...evidence.since(node.name, "history", fromMs)];
      if (other !== undefined) return `${origin} was asked for ${other.path}`;
    }
    return null;
  }
}
