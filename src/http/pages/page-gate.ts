/** The share of the processor's time that renderings of one page may take in the long run. */
const share = 0.05;
/** How much rendering time a page that was not requested for a while may take at once, in ms. */
const burstMs = 500;

/** Leave to render a page, or after how long to come again. */
export type Entry = PageTurn | { readonly retryAfterS: number };

interface Account {
  renderings: number;
  /** Rendering time that is left, in ms; negative after a long rendering. */
  leftMs: number;
  countedAtMs: number;
}

/** Limits pages that cost more than a check: how many of a page are rendered at a time, and how much time they take altogether. */
export class PageGate {
  readonly #now: () => number;
  readonly #accounts = new Map<string, Account>();

  /** @param now monotonic time, in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Requests leave to render a page.
   * @param page one of a few names: each has an account for good
   * @param atOnce how many renderings of this page there may be at a time
   */
  enter(page: string, atOnce: number = 1): Entry {
    const account = this.#account(page);
    if (account.renderings >= atOnce) return { retryAfterS: 1 };
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

/** One rendering under way. */
export class PageTurn {
  readonly #account: Account;
  #isOver = false;

  constructor(account: Account) {
    this.#account = account;
  }

  /** Counts time that the rendering held the event loop, in ms. */
  charge(ms: number): void {
    this.#account.leftMs -= ms;
  }

  /** Ends the rendering; a second call does nothing. */
  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#account.renderings -= 1;
  }
}
