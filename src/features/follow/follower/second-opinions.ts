import type { StatusOutcome } from "../../../core/cluster/outcome.ts";
import type { SetTimer } from "../../../core/cluster/timer.ts";

/** What second opinions depend on. */
export interface SecondOpinionsContext {
  /** Asks a node once, with a limit of its own. @returns `null` if it could not be asked. Must not reject */
  readonly ask: (cluster: string, node: string) => Promise<StatusOutcome | null>;
  readonly setTimer: SetTimer;
  /** A number from 0 up to 1. */
  readonly random: () => number;
}

interface Subject {
  readonly cluster: string;
  readonly node: string;
}

type Told = (outcome: StatusOutcome | null) => void;

/** How many nodes are asked at the same time: more wait. */
const askedMax = 128;
/** With so many of them nobody is asked whose answer no yes depends on: those that are dead take a timeout each. */
const urgentOnlyFrom = 32;
/** Followers that hear the same do not all ask at once: each waits for up to so long, in ms. */
const jitterMs = 100;

/**
 * Asks nodes that an owner cannot reach, before their yes becomes a no: a partition of the owner is not the death of the
 * node.
 */
export class SecondOpinions {
  readonly #context: SecondOpinionsContext;
  /** Cluster and node -> who wants to know. */
  readonly #asked = new Map<string, Set<Told>>();
  /** Those of them that wait for their turn. Each node is there once at most. */
  readonly #waiting: Subject[] = [];

  constructor(context: SecondOpinionsContext) {
    this.#context = context;
  }

  /**
   * Asks a node, unless it is being asked already: then all callers get the same answer.
   * @param limitMs after so long there is no opinion, in ms
   * @param isUrgent whether a yes depends on it
   * @param told called with what the node said, or with `null` if that is not there in time; then once more if it comes
   *   later
   * @returns `false` if it is not urgent, and many others are being asked
   */
  ask(
    { limitMs, isUrgent, ...subject }: Subject & { readonly limitMs: number; readonly isUrgent: boolean },
    told: Told,
  ): boolean {
    const { setTimer } = this.#context;
    const key = keyOf(subject);
    const known = this.#asked.get(key);
    if (known === undefined && !isUrgent && this.#asked.size >= urgentOnlyFrom) return false;
    const listeners = known ?? new Set<Told>();
    const cancel = setTimer(() => told(null), limitMs);
    listeners.add((outcome) => {
      cancel();
      told(outcome);
    });
    if (known !== undefined) return true;
    if (this.#asked.size - this.#waiting.length >= askedMax) this.#waiting.push(subject);
    else this.#begin(subject);
    this.#asked.set(key, listeners);
    return true;
  }

  #begin(subject: Subject): void {
    const { setTimer, random } = this.#context;
    setTimer(() => void this.#giveAnswer(subject), random() * jitterMs);
  }

  async #giveAnswer(subject: Subject): Promise<void> {
    const outcome = await this.#context.ask(subject.cluster, subject.node);
    const key = keyOf(subject);
    const listeners = this.#asked.get(key) ?? [];
    this.#asked.delete(key);
    const next = this.#waiting.shift();
    if (next !== undefined) this.#begin(next);
    for (const listener of listeners) listener(outcome);
  }
}

function keyOf({ cluster, node }: Subject): string {
  return JSON.stringify([cluster, node]);
}
