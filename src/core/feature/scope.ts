import type { CancelTimer, SetTimer } from "../cluster/timer.ts";
import { errorMessage } from "../cluster/values/error-message.ts";

/** Ends something that was opened. */
export type End = () => void | Promise<void>;

/** What a scope depends on. */
export interface ScopeContext {
  readonly setTimer: SetTimer;
  /** Something that the scope holds did not end in time, or threw as it ended. The rest ends all the same. */
  readonly onProblem: (what: string, problem: string) => void;
}

/** How long one end may take, in ms, where it does not say otherwise. */
const endMaxMs = 2_000;

interface Held {
  readonly what: string;
  readonly end: End;
  readonly limitMs: number;
}

/** What has begun to end does not hold anything more. */
type Life = { readonly kind: "open" } | { readonly kind: "ended"; readonly done: Promise<void> };

/**
 * What was opened and ends together: timers, sockets, subscriptions, children. What was opened last ends first, each
 * within a time of its own.
 */
export class Scope {
  readonly #context: ScopeContext;
  readonly #aborted = new AbortController();
  readonly #held = new Map<object, Held>();
  #life: Life = { kind: "open" };

  constructor(context: ScopeContext) {
    this.#context = context;
  }

  /** Aborted when the end begins. */
  get signal(): AbortSignal {
    return this.#aborted.signal;
  }

  /** What is held now: nothing after the end. */
  get holds(): readonly string[] {
    return [...this.#held.values()].map(({ what }) => what);
  }

  /**
   * Ends something with this scope; at once, if the scope has ended.
   * @param what its name in a report of an end that fails
   * @param limitMs how long the end may take, in ms
   * @returns ends it earlier, and only once
   */
  hold(what: string, end: End, limitMs: number = endMaxMs): End {
    const held = { what, end, limitMs };
    if (this.#life.kind === "ended") {
      void this.#endOne(held);
      return () => {};
    }
    this.#held.set(held, held);
    return () => (this.#held.delete(held) ? end() : undefined);
  }

  /** As {@link SetTimer}: a timer that ends with this scope. A field, so that it can be handed on. */
  readonly setTimer: SetTimer = (callback, delayMs) => {
    if (this.#life.kind === "ended") return () => {};
    const key = {};
    const cancel = this.#context.setTimer(() => {
      this.#held.delete(key);
      callback();
    }, delayMs);
    this.#held.set(key, { what: "a timer", end: cancel, limitMs: endMaxMs });
    return () => {
      this.#held.delete(key);
      cancel();
    };
  };

  /** Waits, until this scope ends at most. @param delayMs in ms */
  wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#context.setTimer(() => void over(), delayMs);
      const over = this.hold("a wait", () => {
        cancel();
        resolve();
      });
    });
  }

  /** A scope that ends with this one, or earlier. @param limitMs how long its end may take as a part of this one's */
  child(what: string, limitMs: number = endMaxMs): Scope {
    const child = new Scope(this.#context);
    const held = { what, end: () => child.end(), limitMs };
    if (this.#life.kind === "ended") void child.end();
    else this.#held.set(held, held);
    child.signal.addEventListener("abort", () => this.#held.delete(held), { once: true });
    return child;
  }

  /** Ends all that is held. A second call waits for the first. Never rejects. */
  end(): Promise<void> {
    if (this.#life.kind === "open") {
      const held = [...this.#held.values()].toReversed();
      this.#held.clear();
      this.#aborted.abort();
      this.#life = { kind: "ended", done: this.#endAll(held) };
    }
    return this.#life.done;
  }

  async #endAll(held: readonly Held[]): Promise<void> {
    for (const one of held) await this.#endOne(one);
  }

  async #endOne({ what, end, limitMs }: Held): Promise<void> {
    try {
      const ending = end();
      if (ending !== undefined) await this.#inTime(ending, limitMs);
    } catch (error) {
      this.#context.onProblem(what, errorMessage(error));
    }
  }

  async #inTime(ending: Promise<void>, limitMs: number): Promise<void> {
    let cancel: CancelTimer | null = null;
    const late = new Promise<never>((_, reject) => {
      const tell = (): void => reject(new Error(`it has not ended within ${limitMs} ms`));
      cancel = this.#context.setTimer(tell, limitMs);
    });
    await Promise.race([ending.finally(() => cancel?.()), late]);
  }
}
