/** The share of processor time that rendering one page may take on average. */
const share = 0.05;
/** How much rendering time a page accumulates while it is not requested, in ms. */
const burstMs = 500;

/** Permission to render a page, or when to retry. */
export type Entry = PageTurn | { readonly retryAfterS: number };

interface Account {
  renderings: number;
  /** Remaining rendering time, in ms; negative after a long rendering. */
  leftMs: number;
  countedAtMs: number;
}

/**
 * Limits pages that cost more than a check: how many renderings of a page run at a time, and how much time they take.
 */
export class PageGate {
  readonly #now: () => number;
  readonly #accounts = new Map<string, Account>();

  /** @param now monotonic time, in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Requests permission to render a page.
   * @param page one of a few names: each has an account that is never removed
   * @param runningMax how many renderings of this page may run at a time
   */
  enter(page: string, runningMax: number = 1): Entry {
    const account = this.#account(page);
    if (account.renderings >= runningMax) return { retryAfterS: 1 };
    if (account.leftMs <= 0) return { retryAfterS: Math.max(1, Math.ceil(-account.leftMs / share / 1000)) };
    account.renderings += 1;
    return new PageTurn(account);
  }

  #account(page: string): Account {
    const nowMs = this.#now();
    const known = this.#accounts.get(page);
    if (known === undefined) {
      const account = { renderings: 0, leftMs: burstMs, countedAtMs: nowMs };
      this.#accounts.set(page, account);
      return account;
    }
    known.leftMs = Math.min(burstMs, known.leftMs + share * (nowMs - known.countedAtMs));
    known.countedAtMs = nowMs;
    return known;
  }
}

/** One rendering in progress. */
export class PageTurn {
  readonly #account: Account;
  #isOver = false;

  constructor(account: Account) {
    this.#account = account;
  }

  /** Counts time for which the rendering blocked the event loop, in ms. */
  charge(ms: number): void {
    this.#account.leftMs -= ms;
  }

  /** Ends the rendering. A second call does nothing. */
  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#account.renderings -= 1;
  }
}
