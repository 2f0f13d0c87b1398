import { countHeld, routeOf, type Scene, type Violation } from "../oracle/scene.ts";
import type { Said } from "../rolecall/asker.ts";
import type { Profile } from "../profile.ts";
import type { Claims } from "../wire/claims.ts";
import type { Evidence } from "../wire/evidence.ts";

/** How long a yes may follow the read that shows another member in the leader key, in ms. */
const withinMs = 50;
/** For how long documents of nodes may still show pause or failsafe mode, in ms. */
const permittedForMs = 15_000;

const rule = "dcs-replaced";
/** Counts how often the promise had to hold in a run after the watch was trusted again. */
const ruleAfterDistrust = "dcs-replaced after a distrust";

const flags = ["pause", "failsafe_mode_is_active"] as const;

/** Which member the leader key named instead of another, and since which read. */
interface Replacement {
  readonly by: string | null;
  readonly sinceMs: number;
  /** When that read was sent. A report that was requested after that may count for rolecall as newer than the read. */
  readonly sentMs: number;
  /** Whether it promises nothing any more. rolecall may still distrust the watch because of it. */
  isSpent: boolean;
}

type Answers = Pick<Evidence, "hasDenied" | "mayHaveDenied" | "mayHaveFlagged"> & {
  readonly claims: Pick<Claims, "longest" | "shortest" | "surelyLastedMs">;
};

/**
 * The promise of the DCS watch: once a read has shown another member in the leader key, the member that it named before
 * gets no yes as the primary, until the key names it again. The same holds for a key that names nobody, unless the
 * cluster was paused or in failsafe mode lately, or a document of that member said so that was fresh at the read, or
 * newer. The promise ends when that member reports that it holds no lock: a claim after that is a new one. It ends as
 * well:
 *
 * - when its claim has gone on for a whole ttl: then the watch is distrusted (docs/reaction-time.md), and nothing is promised of
 *   any member until the key names another one that has a yes. What was read before counts no longer then;
 * - when its claim ended with its evidence and a new one began while the DCS could not be read: the key may have come
 *   back;
 * - when rolecall follows a clone in place of that member: another promise reports that (moved).
 *
 * The time counts from the read's arrival at rolecall.
 */
export class DcsPromise {
  readonly #armed: Map<string, number>;
  /** The last answer of each node that was a yes as the primary, in ms. */
  readonly #yesMs = new Map<string, number>();
  readonly #replaced = new Map<string, Replacement>();
  #named: string | null = null;
  #lastRead: string | null = null;
  #lastReadMs = -Infinity;
  #permittedMs = -Infinity;
  #unreadableMs = -Infinity;
  /** The members whose claim may have made rolecall distrust the watch. Empty: it trusts it. */
  readonly #causes = new Set<string>();
  #wasDistrusted = false;

  readonly #replacedMs: Map<string, number>;
  readonly #namedUntilMs: Map<string, number>;
  readonly #evidence: Answers;
  readonly #profile: Profile;

  /**
   * @param scene its evidence is what the nodes reported: a claim after a report without the lock is a new one, which
   * may be true before the next read
   */
  constructor(
    scene: Pick<Scene, "armed" | "replacedMs" | "namedUntilMs" | "profile"> & { readonly evidence: Answers },
  ) {
    const { armed, replacedMs, namedUntilMs, evidence, profile } = scene;
    this.#armed = armed;
    this.#replacedMs = replacedMs;
    this.#namedUntilMs = namedUntilMs;
    this.#evidence = evidence;
    this.#profile = profile;
  }

  /** Takes that a member of the DCS does not answer, or that the DCS is down. */
  disturb(nowMs: number): void {
    this.#unreadableMs = nowMs;
  }

  /** Takes that the cluster is paused or in failsafe mode: a leader without a key goes on. */
  permit(nowMs: number): void {
    this.#noteDistrust();
    this.#permittedMs = nowMs;
    for (const [node, { by }] of this.#replaced) if (by === null) this.#replaced.delete(node);
  }

  /** Takes a read that rolecall sent at `sentMs` and that has reached it now. */
  read(leader: string | null, nowMs: number, sentMs: number): void {
    if (this.#named !== null && leader !== this.#named && leader !== this.#lastRead)
      this.#replacedMs.set(this.#named, nowMs);
    for (const [node, untilMs] of this.#namedUntilMs)
      if (untilMs === Infinity && node !== leader) this.#namedUntilMs.set(node, nowMs);
    if (leader !== null) this.#namedUntilMs.set(leader, Infinity);
    // Only a change of the key withdraws. A read that repeats the one before says nothing about a claim begun between.
    const isRepeated = leader === this.#lastRead;
    this.#lastRead = leader;
    this.#lastReadMs = nowMs;
    if (isRepeated) return;
    // This read may end the replacement of a member whose claim has gone on for a whole ttl. Then the watch was
    // distrusted before it.
    this.#noteDistrust();
    if (leader === null && nowMs - this.#permittedMs < permittedForMs) return;
    const before = this.#named;
    if (leader !== null) {
      this.#named = leader;
      this.#replaced.delete(leader);
    }
    if (before === null || before === leader) return;
    // A read that names another member after one that names nobody replaces anew.
    this.#replaced.set(before, { by: leader, sinceMs: nowMs, sentMs, isSpent: this.#causes.size > 0 });
    // Only where the last answer was a yes can one be wrong.
    const hadYes = nowMs - (this.#yesMs.get(before) ?? -Infinity) < 1_000;
    if (!hadYes || this.#causes.size > 0) return;
    countHeld(this.#armed, rule);
    if (this.#wasDistrusted) countHeld(this.#armed, ruleAfterDistrust);
  }

  /**
   * @param isMoved whether rolecall follows a clone in place of a node
   * @returns what is wrong with answers of one instant
   */
  judge(answers: readonly Said[], isMoved: (node: string) => boolean = () => false): readonly Violation[] {
    const violations: Violation[] = [];
    this.#noteDistrust();
    if (this.#causes.size > 0 && answers.some((answer) => this.#showsTrust(answer, isMoved))) this.#trust();
    if (this.#causes.size > 0) return violations;
    for (const { node, check, status, askedMs } of answers) {
      if (node === null || !isLeaderRoute(routeOf(check))) continue;
      if (status === 200) this.#yesMs.set(node, askedMs);
      else this.#yesMs.delete(node);
      const replaced = this.#replaced.get(node);
      if (status !== 200 || replaced === undefined || replaced.isSpent) continue;
      if (askedMs - replaced.sinceMs <= withinMs) continue;
      if (isMoved(node) || this.#mayStay(node, replaced) || this.#hasEnded(node, replaced)) {
        replaced.isSpent = true;
        continue;
      }
      const lateMs = Math.round(askedMs - replaced.sinceMs);
      const detail = `a yes ${lateMs} ms after a read showed ${replaced.by ?? "nobody"} in the leader key`;
      violations.push({ rule, node, detail });
    }
    return violations;
  }

  /** A member that has surely reported since the read that it holds no lock is replaced no longer. */
  #noteDistrust(): void {
    for (const [node, replaced] of this.#replaced) {
      if (this.#goesOn(node, replaced)) this.#causes.add(node);
      if (this.#evidence.hasDenied(node, replaced.sinceMs)) this.#replaced.delete(node);
    }
  }

  /** Whether rolecall trusts a distrusted watch again: it works, and its key names a leader that did not cause that. */
  #showsTrust({ node, check, status, askedMs }: Said, isMoved: (node: string) => boolean): boolean {
    if (node === null || status !== 200 || !isLeaderRoute(routeOf(check)) || node !== this.#lastRead) return false;
    const isRead = this.#unreadableMs < this.#lastReadMs && this.#lastReadMs < askedMs;
    return isRead && !this.#causes.has(node) && !isMoved(node);
  }

  /** rolecall has dropped all withdrawals, unless no claim has surely gone on for a whole ttl. */
  #trust(): void {
    const { maxAgeMs, slackMs, ttlMs } = this.#profile;
    this.#causes.clear();
    for (const [node, replaced] of this.#replaced) {
      const claimedMs = this.#evidence.claims.surelyLastedMs(node, replaced.sentMs, maxAgeMs - slackMs);
      if (claimedMs >= ttlMs + slackMs) this.#replaced.delete(node);
      else replaced.isSpent = true;
    }
    this.#wasDistrusted = true;
  }

  /** Whether a claim may have gone on for a whole ttl after a read that replaced it. */
  #goesOn(node: string, { sentMs }: Replacement): boolean {
    const { maxAgeMs, slackMs, ttlMs } = this.#profile;
    const claim = this.#evidence.claims.longest(node, maxAgeMs + slackMs);
    return claim !== null && claim.newestMs - Math.max(claim.firstMs, sentMs) >= ttlMs - withinMs;
  }

  /** Whether a key that names nobody may leave a claim as it is. */
  #mayStay(node: string, { by, sinceMs }: Replacement): boolean {
    const fromMs = sinceMs - this.#profile.maxAgeMs;
    return by === null && flags.some((flag) => this.#evidence.mayHaveFlagged(node, flag, fromMs));
  }

  #hasEnded(node: string, { sinceMs, sentMs }: Replacement): boolean {
    const { maxAgeMs, slackMs } = this.#profile;
    if (this.#evidence.mayHaveDenied(node, sentMs)) return true;
    const certain = this.#evidence.claims.shortest(node, maxAgeMs - slackMs);
    return certain !== null && certain.firstMs > sinceMs && this.#unreadableMs > sinceMs;
  }
}

function isLeaderRoute(route: string): boolean {
  return route === "/primary" || route === "/standby-leader";
}
