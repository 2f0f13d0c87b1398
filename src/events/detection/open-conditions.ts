import type { ClusterEvent, EventDraft } from "../cluster-event.ts";
import type { ClusterFacts } from "./cluster-facts.ts";
import { conditionKey, endOf, isBeginning, type Condition } from "./condition.ts";
import { conditionsOf, isEndKnown } from "./conditions.ts";

/** A condition that was reported and lasts. */
interface OpenCondition {
  readonly begins: Pick<EventDraft, "kind" | "cluster" | "node">;
  /** `null` for one that an earlier process reported, until it is seen again. */
  readonly level: string | null;
  readonly sinceMs: number;
  readonly quietMs: number;
  /** When it was last present, in ms of rolecall's clock. */
  readonly seenMs: number;
  /** Its end is not reported before this instant, in ms of rolecall's clock. */
  readonly endsFromMs: number;
}

/**
 * How long what an earlier process reported is taken to last, in ms: a detached replica, for instance, is found after
 * `attach_window`.
 */
const resumedMs = 30_000;

/** A condition that is not reported yet because it has not lasted long enough. */
interface PendingCondition {
  readonly level: string;
  readonly sinceMs: number;
}

/** The conditions of one cluster that last. Turns what is present now into beginnings and ends. */
export class OpenConditions {
  readonly #open = new Map<string, OpenCondition>();
  readonly #pending = new Map<string, PendingCondition>();

  /** Compares with the facts of a later instant. @returns beginnings, then ends */
  update(facts: ClusterFacts): readonly EventDraft[] {
    const events: EventDraft[] = [];
    const present = new Set<string>();
    for (const condition of conditionsOf(facts)) {
      const key = conditionKey(condition.begins);
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
    const key = conditionKey(event);
    if (key === null) return;
    if (isBeginning(event)) {
      const since = this.#open.get(key)?.sinceMs ?? sinceMs;
      const rest = { quietMs: 0, seenMs: sinceMs, endsFromMs: nowMs + resumedMs };
      this.#open.set(key, { begins: event, level: null, sinceMs: since, ...rest });
    } else this.#open.delete(key);
  }

  #isBegun(key: string, { begins, level, holdMs = 0, quietMs = 0 }: Condition, nowMs: number): boolean {
    const known = this.#open.get(key);
    const isKnown = known !== undefined && (known.level === level || isResumed(known, begins));
    if (isKnown) {
      this.#pending.delete(key);
      this.#open.set(key, { begins, level, sinceMs: known.sinceMs, quietMs, seenMs: nowMs, endsFromMs: nowMs });
      return false;
    }
    const pending = this.#pending.get(key);
    const sinceMs = pending?.level === level ? pending.sinceMs : nowMs;
    if (known !== undefined) this.#open.set(key, { ...known, seenMs: nowMs });
    if (nowMs - sinceMs < holdMs) {
      this.#pending.set(key, { level, sinceMs });
      return false;
    }
    this.#pending.delete(key);
    this.#open.set(key, {
      begins,
      level,
      sinceMs: known?.sinceMs ?? sinceMs,
      quietMs,
      seenMs: nowMs,
      endsFromMs: nowMs,
    });
    return true;
  }

  #ended(present: ReadonlySet<string>, facts: ClusterFacts): readonly EventDraft[] {
    const events: EventDraft[] = [];
    const nodes = new Set<string | null>(facts.nodes.map(({ node }) => node));
    for (const [key, { begins, sinceMs, quietMs, seenMs, endsFromMs }] of this.#open) {
      const { node } = begins;
      if (present.has(key) || !isEndKnown(begins.kind, facts)) continue;
      if (facts.nowMs - seenMs < quietMs || facts.nowMs < endsFromMs) continue;
      this.#open.delete(key);
      // Nothing ends at a node that has left.
      if (node !== null && !nodes.has(node)) continue;
      const overMs = quietMs > 0 ? seenMs : facts.nowMs;
      const end = endOf(begins, overMs - sinceMs);
      if (end !== null) events.push(end);
    }
    return events;
  }
}

/** Whether an earlier process reported the same. */
function isResumed({ level, begins: known }: OpenCondition, begins: EventDraft): boolean {
  return level === null && known.kind === begins.kind;
}
