import type { StatusOutcome } from "../../cluster/outcome.ts";
import type { SetTimer } from "../../cluster/timer.ts";

/** What second opinions depend on. */
export interface SecondOpinionsContext {
  /** Asks a node once, with a limit of its own. @returns `null` if it could not be asked. Must not reject */
  readonly ask: (cluster: string, node: string) => Promise<StatusOutcome | null>;
  readonly setTimer: SetTimer;
  /** A number from 0 up to 1. */
  readonly random: () => number;
}

type Told = (outcome: StatusOutcome | null) => void;

/** How many nodes are asked at the same time. */
const askedMax = 32;
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

  constructor(context: SecondOpinionsContext) {
    this.#context = context;
  }

  /**
   * Asks a node, unless it is being asked already: then all callers get the same answer.
   * @param limitMs after so long there is no opinion, in ms
   * @param told called with what the node said, or with `null` if that is not there in time; then once more if it comes
   *   later
   * @returns `false` if too many others are being asked
   */
  ask(
    { cluster, node, limitMs }: { readonly cluster: string; readonly node: string; readonly limitMs: number },
    told: Told,
  ): boolean {
    const { setTimer, random, ask } = this.#context;
    const key = JSON.stringify([cluster, node]);
    const known = this.#asked.get(key);
    if (known === undefined && this.#asked.size >= askedMax) return false;
    const listeners = known ?? new Set<Told>();
    const cancel = setTimer(() => told(null), limitMs);
    listeners.add((outcome) => {
      cancel();
      told(outcome);
    });
    if (known !== undefined) return true;
    this.#asked.set(key, listeners);
    setTimer(() => {
      void this.#giveAnswer(key, ask(cluster, node));
    }, random() * jitterMs);
    return true;
  }

  async #giveAnswer(key: string, answer: Promise<StatusOutcome | null>): Promise<void> {
    const outcome = await answer;
    const listeners = this.#asked.get(key) ?? [];
    this.#asked.delete(key);
    for (const listener of listeners) listener(outcome);
  }
}
