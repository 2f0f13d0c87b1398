import type { Profile } from "../profile.ts";
import { Claims } from "./claims.ts";
import type { Kind } from "./mask.ts";
import { documentOf, type Served } from "./served.ts";

/** How long requests are kept at least, in ms, and for how many times the longest hold of lag in time. */
const keptMs = 100_000;
const keptHolds = 2;
const none: readonly Served[] = [];

type EvidenceProfile = Pick<Profile, "timeoutMs" | "slackMs"> & Partial<Pick<Profile, "ttlMs" | "loopMs" | "retryMs">>;

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** How much of the time between two instants is in spans, in ms. */
function within(spans: readonly Span[], fromMs: number, toMs: number): number {
  return spans.reduce((sum, span) => sum + Math.max(0, Math.min(toMs, span.toMs) - Math.max(fromMs, span.fromMs)), 0);
}

/** The responses to rolecall, per node: its only knowledge of a cluster. */
export class Evidence {
  readonly #served = new Map<string, Record<Kind, Served[]>>();
  #isEmpty = true;

  readonly timeoutMs: number;
  readonly slackMs: number;
  readonly #keptMs: number;

  readonly scope: string;
  readonly claims: Claims = new Claims(this);
  /** When the rolecall that runs now began: what was answered before is unknown to it. */
  #knownFromMs = -Infinity;
  readonly #suspends: Span[] = [];
  readonly #late: Span[] = [];
  readonly #starved: Span[] = [];

  /**
   * @param profile rolecall's own timeout, and what its clock and ours may differ by
   * @param scope the cluster's
   */
  constructor({ timeoutMs, slackMs, ...cluster }: EvidenceProfile, scope: string) {
    const { ttlMs = 0, loopMs = 0, retryMs = 0 } = cluster;
    this.#keptMs = Math.max(keptMs, keptHolds * (ttlMs + loopMs + retryMs));
    this.timeoutMs = timeoutMs;
    this.slackMs = slackMs;
    this.scope = scope;
  }

  /** Takes that rolecall was stopped, and begins anew at an instant. */
  restart(nowMs: number): void {
    this.#knownFromMs = nowMs;
  }

  /** Whether no request was recorded yet. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Whether rolecall was stopped and started again. */
  get isRestarted(): boolean {
    return this.#knownFromMs > -Infinity;
  }

  /** Takes that rolecall's machine is suspended: its timeouts do not count that time. */
  suspend(fromMs: number, toMs: number): void {
    this.#suspends.push({ fromMs, toMs });
  }

  /** Takes that rolecall's process stands still, or is starved: what it is late extends its timeouts, once. */
  late(fromMs: number, toMs: number): void {
    this.#late.push({ fromMs, toMs });
  }

  /** Takes that rolecall's process is starved: when it reads what comes in that time is not known. */
  starve(fromMs: number, toMs: number): void {
    this.late(fromMs, toMs);
    this.#starved.push({ fromMs, toMs: toMs + this.timeoutMs });
  }

  /** Whether rolecall's process was starved between two instants. */
  wasStarved(fromMs: number, toMs: number): boolean {
    return within(this.#starved, fromMs, toMs) > 0;
  }

  /** Whether an answer was given to the rolecall that runs now. */
  isKnown({ arrivedMs }: Served): boolean {
    return arrivedMs >= this.#knownFromMs;
  }

  /** Records a request. The caller updates the record while it sends the response. */
  note(served: Served): void {
    this.#isEmpty = false;
    const list = this.#list(served.node, served.kind);
    list.push(served);
    while ((list[0]?.arrivedMs ?? Infinity) < served.arrivedMs - this.#keptMs) list.shift();
  }

  /** All requests of a kind since an instant, oldest first. */
  since(node: string, kind: Kind, fromMs: number): readonly Served[] {
    const list = this.#list(node, kind);
    let first = list.length;
    while (first > 0 && (list[first - 1]?.arrivedMs ?? -Infinity) >= fromMs) first -= 1;
    return first === list.length ? none : list.slice(first);
  }

  /** The newest answer of a kind that had surely been read by an instant; undefined where there is none. */
  newestSure(node: string, kind: Kind, byMs: number, accepts?: (served: Served) => boolean): Served | undefined {
    const list = this.#list(node, kind);
    for (let at = list.length - 1; at >= 0; at -= 1) {
      const served = list[at];
      if (served === undefined || (served.doneMs ?? Infinity) > byMs || !this.isSure(served)) continue;
      if (accepts === undefined || accepts(served)) return served;
    }
    return undefined;
  }

  /** Whether the rolecall that runs now has read an answer: it was readable, and well within the timeout. */
  isSure(served: Served): boolean {
    return this.isKnown(served) && this.wasSure(served);
  }

  /** Whether an answer was readable and well within the timeout of a rolecall, also of one that was stopped since. */
  wasSure(served: Served): boolean {
    const { doneMs, arrivedMs, document, isBroken, status } = served;
    if (doneMs === null || isBroken || document === null || (status !== 200 && status !== 503)) return false;
    return doneMs - arrivedMs < this.timeoutMs - this.slackMs / 2 && within(this.#starved, arrivedMs, doneMs + 1) === 0;
  }

  /** Whether rolecall may have read an answer: it was readable and not surely too late. */
  isPossible(served: Served): boolean {
    return this.isKnown(served) && this.wasPossible(served);
  }

  /** The same, of a rolecall that was stopped since too. */
  wasPossible({ doneMs, arrivedMs, document }: Served): boolean {
    if (document === null || doneMs === null) return false;
    const tookMs = doneMs - arrivedMs;
    if (tookMs < this.timeoutMs + this.slackMs * 2) return true;
    const lateMs = Math.min(2 * this.timeoutMs, within(this.#late, arrivedMs, doneMs));
    return tookMs - this.suspendedMs(arrivedMs, doneMs) - lateMs < this.timeoutMs + this.slackMs * 2;
  }

  /** Whether rolecall has surely read since an instant that a node itself does not hold the lock. */
  hasDenied(node: string, fromMs: number): boolean {
    return this.since(node, "status", fromMs).some(
      (served) => served.status === 503 && served.isGenuine && this.isSure(served),
    );
  }

  /** Whether rolecall may have read since an instant that a node does not hold the lock. */
  mayHaveDenied(node: string, fromMs: number): boolean {
    return this.since(node, "status", fromMs).some((served) => served.status === 503 && this.isPossible(served));
  }

  /** Whether a status document of a node since an instant had a flag. */
  mayHaveFlagged(node: string, flag: "pause" | "failsafe_mode_is_active", fromMs: number): boolean {
    return this.since(node, "status", fromMs).some((served) => documentOf(served)?.[flag] === true);
  }

  /** Whether a node answered every request of a kind in time since an instant, and was sent some. */
  answeredAll(node: string, kind: Kind, fromMs: number, nowMs: number): boolean {
    const list = this.since(node, kind, fromMs).filter(({ arrivedMs }) => arrivedMs < nowMs - this.timeoutMs);
    return list.length > 0 && list.every((served) => this.isSure(served));
  }

  /** For how long rolecall's machine was suspended between two instants. */
  suspendedMs(fromMs: number, toMs: number): number {
    return within(this.#suspends, fromMs, toMs);
  }

  #list(node: string, kind: Kind): Served[] {
    let lists = this.#served.get(node);
    if (lists === undefined) this.#served.set(node, (lists = { status: [], cluster: [], history: [], other: [] }));
    return lists[kind];
  }
}
