import type { ClusterEvent, EventDraft, EventKind } from "../cluster-event.ts";
import type { ClusterFacts } from "../../health/conditions/cluster-facts.ts";
import type { Found } from "../../health/conditions/condition.ts";
import type { Beginning, KnownConditions } from "./known-conditions.ts";

/** A condition that was reported and lasts. */
interface OpenCondition {
  readonly begins: Pick<EventDraft, "kind" | "cluster" | "node" | "figures">;
  /** `null` for one that an earlier process reported, until it is seen again. */
  readonly level: string | null;
  readonly sinceMs: number;
  /** When it was last present, in ms of rolecall's clock. */
  readonly seenMs: number;
  /** Since when it is known to be absent, in ms of rolecall's clock; `null` while it is present. */
  readonly absentSinceMs: number | null;
  /** Its end is not reported before this instant, in ms of rolecall's clock. */
  readonly endsFromMs: number;
}

/**
 * How long what an earlier process reported is taken to last if it is found late (`isFoundLate`), in ms.
 * Everything else is known once each node was probed.
 */
const resumedLateMs = 30_000;

/** A condition that is not reported yet because it has not lasted long enough. */
interface PendingCondition {
  readonly level: string;
  readonly sinceMs: number;
}

/** The conditions of one cluster that last. Turns what is present now into beginnings and ends. */
export class OpenConditions {
  readonly #known: KnownConditions;
  readonly #open = new Map<string, OpenCondition>();
  readonly #pending = new Map<string, PendingCondition>();

  constructor(known: KnownConditions) {
    this.#known = known;
  }

  /** How many conditions last. */
  get size(): number {
    return this.#open.size;
  }

  /** Whether nothing lasts, and nothing may soon. */
  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#pending.size === 0;
  }

  /**
   * Compares with the facts of a later instant.
   * @param ofFeatures what features have found
   * @returns beginnings, then ends
   */
  update(facts: ClusterFacts, ofFeatures: readonly Found<EventKind>[]): readonly EventDraft[] {
    const events: EventDraft[] = [];
    const present = new Set<string>();
    for (const condition of this.#known.find(facts, ofFeatures)) {
      const key = this.#known.keyOf(condition.begins);
      if (key === null) continue;
      present.add(key);
      if (this.#isBegun(key, condition, facts.nowMs)) events.push(condition.begins);
    }
    for (const key of this.#pending.keys()) if (!present.has(key)) this.#pending.delete(key);
    return [...events, ...this.#ended(present, facts)];
  }

  /**
   * Takes over what an earlier process reported last: it is not reported again, and ends with an event.
   * @param sinceMs when the event happened, in ms of rolecall's clock
   * @param nowMs the present instant, in ms of rolecall's clock
   */
  resume(event: ClusterEvent, sinceMs: number, nowMs: number): void {
    const key = this.#known.keyOf(event);
    if (key === null) return;
    if (this.#known.isBeginning(event)) {
      const since = this.#open.get(key)?.sinceMs ?? sinceMs;
      const endsFromMs = this.#known.isFoundLate(event) ? nowMs + resumedLateMs : nowMs;
      const rest = { seenMs: nowMs, absentSinceMs: null, endsFromMs };
      this.#open.set(key, { begins: event, level: null, sinceMs: since, ...rest });
    } else this.#open.delete(key);
  }

  #isBegun(key: string, { begins, level, holdMs, sinceMs: statedMs = Infinity }: Beginning, nowMs: number): boolean {
    const known = this.#open.get(key);
    const isKnown = known !== undefined && (known.level === level || isResumed(known, begins));
    if (isKnown) {
      this.#pending.delete(key);
      this.#keep(key, { begins, level, sinceMs: known.sinceMs }, nowMs);
      return false;
    }
    const pending = this.#pending.get(key);
    const sinceMs = pending?.level === level ? pending.sinceMs : nowMs;
    if (known !== undefined) this.#open.set(key, { ...known, seenMs: nowMs, absentSinceMs: null });
    if (nowMs - sinceMs < holdMs) {
      this.#pending.set(key, { level, sinceMs });
      return false;
    }
    this.#pending.delete(key);
    this.#keep(key, { begins, level, sinceMs: known?.sinceMs ?? Math.min(sinceMs, statedMs) }, nowMs);
    return true;
  }

  /** Keeps a condition that is present. */
  #keep(key: string, condition: Pick<OpenCondition, "begins" | "level" | "sinceMs">, nowMs: number): void {
    this.#open.set(key, { ...condition, seenMs: nowMs, absentSinceMs: null, endsFromMs: nowMs });
  }

  #ended(present: ReadonlySet<string>, facts: ClusterFacts): readonly EventDraft[] {
    const events: EventDraft[] = [];
    if (this.#open.size === 0) return events;
    const nodes = new Set<string | null>(facts.nodes.map(({ node }) => node));
    for (const [key, condition] of this.#open) {
      const { begins, sinceMs, level, seenMs } = condition;
      if (present.has(key) || !this.#known.isEndKnown(begins, facts)) continue;
      const absentSinceMs = condition.absentSinceMs ?? facts.nowMs;
      if (this.#isEndEarly(condition, facts.nowMs)) {
        this.#open.set(key, { ...condition, absentSinceMs });
        continue;
      }
      this.#open.delete(key);
      // Nothing ends at a node that has left.
      if (this.#known.isOfNode(begins) && !nodes.has(begins.node)) continue;
      // What an earlier process saw lasted until this one found it absent.
      const overMs = this.#known.quietMsOf(begins) > 0 && level !== null ? seenMs : absentSinceMs;
      const end = this.#known.endOf(begins, { forMs: overMs - sinceMs, agoMs: facts.nowMs - overMs });
      if (end !== null) events.push(end);
    }
    return events;
  }

  /** Whether a condition that is absent may be present again soon, as the same one. */
  #isEndEarly({ begins, level, seenMs, endsFromMs }: OpenCondition, nowMs: number): boolean {
    if (nowMs - seenMs < this.#known.quietMsOf(begins) || nowMs < endsFromMs) return true;
    // Another one may be found anew later, and this one with it.
    return (
      level === null &&
      [...this.#open.values()].some((open) => open.level === null && this.#known.restsOn(begins, open.begins))
    );
  }
}

/** Whether an earlier process reported the same. */
function isResumed({ level, begins: known }: OpenCondition, begins: EventDraft): boolean {
  return level === null && known.kind === begins.kind;
}
