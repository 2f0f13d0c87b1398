import { type ClusterFacts, isAnswering } from "../../health/conditions/cluster-facts.ts";
import type { Condition, ConditionEvents, Case, Found } from "../../health/conditions/condition.ts";
import { foundConditions } from "../../health/conditions/conditions.ts";
import { spanText } from "../../health/wording.ts";
import type { ClusterEvent, EventDraft, EventKind } from "../cluster-event.ts";

/** A case of a condition that holds, and the event that begins it. */
export interface Beginning extends Pick<Case, "level" | "sinceMs"> {
  readonly begins: EventDraft;
  /** How long it has to last before it is reported, in ms. */
  readonly holdMs: number;
}

type Events = ConditionEvents<EventKind>;

/** The conditions that begin and end with events, by the kinds of these. */
export class KnownConditions {
  readonly #all: readonly Events[];
  readonly #byBegin: ReadonlyMap<string, Events>;
  readonly #ends: ReadonlySet<string>;
  /** End -> the figure that identifies the condition. */
  readonly #keyFigures: ReadonlyMap<string, string>;

  /** @param conditions those of the core, and those that features bring */
  constructor(conditions: readonly Condition<EventKind>[] = foundConditions) {
    this.#all = conditions.flatMap(({ events }) => (events === undefined ? [] : [events]));
    this.#byBegin = new Map(this.#all.map((events) => [events.begins, events]));
    this.#ends = new Set(this.#all.map(({ ends }) => ends));
    this.#keyFigures = new Map(
      this.#all.flatMap(({ ends, keyFigure: figure }) => (figure === undefined ? [] : [[ends, figure]])),
    );
  }

  /**
   * Returns what holds of a cluster.
   * @param ofFeatures what features have found, which nobody knows while the cluster is not seen clearly
   */
  find(facts: ClusterFacts, ofFeatures: readonly Found<EventKind>[]): readonly Beginning[] {
    const isClear = facts.visibility === "clear";
    const found: Beginning[] = [];
    for (const events of this.#all) {
      if (events.holds === null || !(isClear || events.mayBeHidden === true)) continue;
      for (const one of events.holds(facts)) found.push(beginningOf(events, facts.cluster, one));
    }
    if (found.length > 1) sortByNode(found, facts);
    if (!isClear) return found;
    for (const { condition, found: one } of ofFeatures)
      if (condition.events !== undefined) found.push(beginningOf(condition.events, facts.cluster, one));
    return found;
  }

  /**
   * Identifies a condition within its cluster, by the event that begins or ends it. A replica is diverged, detached or
   * stalled, not several at a time.
   * @returns `null` for an event that neither begins nor ends a condition
   */
  keyOf({ kind, node, figures }: Pick<ClusterEvent, "kind" | "node" | "figures">): string | null {
    const end = this.#byBegin.get(kind)?.ends ?? kind;
    if (!this.#ends.has(end)) return null;
    const figure = this.#keyFigures.get(end);
    return `${end}/${figure === undefined ? (node ?? "") : (figures[figure] ?? "")}`;
  }

  /** Whether it is a condition of a node, which ends without an event when the node leaves. */
  isOfNode({ kind, node }: Pick<ClusterEvent, "kind" | "node">): boolean {
    return node !== null && this.#byBegin.get(kind)?.keyFigure === undefined;
  }

  /** Whether an event begins a condition. */
  isBeginning({ kind }: Pick<ClusterEvent, "kind">): boolean {
    return this.#byBegin.has(kind);
  }

  /** Whether a process needs some time before it finds a condition that began before its start. */
  isFoundLate({ kind }: Pick<ClusterEvent, "kind">): boolean {
    return this.#byBegin.get(kind)?.isFoundLate === true;
  }

  /** Whether a condition may last because of another one that is found late. */
  restsOn({ kind }: Pick<ClusterEvent, "kind">, other: Pick<ClusterEvent, "kind">): boolean {
    return this.#byBegin.get(kind)?.restsOn?.includes(other.kind) === true;
  }

  /** How long a condition must be absent before its end is reported, in ms. */
  quietMsOf({ kind }: Pick<ClusterEvent, "kind">): number {
    return this.#byBegin.get(kind)?.quietMs ?? 0;
  }

  /**
   * Whether a condition that is no longer found is certainly over. It may not be, if the evidence to find it is missing.
   */
  isEndKnown({ kind, node }: Pick<EventDraft, "kind" | "node">, facts: ClusterFacts): boolean {
    const events = this.#byBegin.get(kind);
    if (events?.mayBeHidden === true ? facts.visibility === "hidden" : facts.visibility !== "clear") return false;
    if (events?.isEndKnown !== undefined) return events.isEndKnown(facts, node);
    // Only an answer of the node shows the end: a node that does not answer counts as down only after several failures.
    // For a node that is no longer known, the condition is over; `every` holds then, since it finds no such node.
    return node === null || facts.nodes.every((known) => known.node !== node || isAnswering(known.observation));
  }

  /**
   * The event that ends a condition.
   * @param begins the event that began it
   * @param time how long it lasted, and how long ago it ended, in ms
   * @returns `null` if the event began none
   */
  endOf(
    { kind, cluster, node, figures }: Pick<EventDraft, "kind" | "cluster" | "node" | "figures">,
    { forMs, agoMs }: { readonly forMs: number; readonly agoMs: number },
  ): EventDraft | null {
    const events = this.#byBegin.get(kind);
    if (events === undefined || cluster === null) return null;
    const { keyFigure } = events;
    const key = keyFigure === undefined ? undefined : figures[keyFigure];
    const text = events.endText?.(cluster, node, String(key ?? "")) ?? events.ends;
    return {
      kind: events.ends,
      severity: "info",
      cluster,
      node,
      message: `${text} after ${spanText(forMs)}`,
      cause: null,
      figures: {
        duration_ms: Math.round(forMs),
        ...(keyFigure === undefined || key === undefined ? {} : { [keyFigure]: key }),
      },
      agoMs,
    };
  }
}

/** What is of nodes comes first, node by node. */
function sortByNode(found: Beginning[], { nodes }: ClusterFacts): void {
  const places = new Map(nodes.map(({ node }, at) => [node, at]));
  const placeOf = ({ begins: { node } }: Beginning): number => places.get(node ?? "") ?? places.size;
  found.sort((one, other) => placeOf(one) - placeOf(other));
}

function beginningOf({ begins: kind, holdMs = 0 }: Events, cluster: string, found: Case): Beginning {
  const { node, severity, message, cause, figures, level, sinceMs } = found;
  const begins = { kind, severity, cluster, node, message, cause, figures };
  return { begins, level, holdMs, ...(sinceMs === undefined ? {} : { sinceMs }) };
}
