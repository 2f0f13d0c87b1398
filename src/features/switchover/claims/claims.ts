import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import type { Logger } from "../../../core/log/logger.ts";
import type { ClaimAnswer } from "../../../core/cluster/run-claim.ts";
import type { PoolerConfig } from "../../../core/config/model/config.ts";
import { ownPooler } from "./own-pooler.ts";
import { type Claim, claimLeaseMs, readClaim } from "./claim.ts";
import {
  ask,
  type BookedClaim,
  type ClaimBook,
  emptyBook,
  hold,
  nextGeneration,
  type OpenRun,
  promise,
  renew,
  withoutClaim,
} from "./claim-book.ts";
import { type KeptClaims, readClaims, writeClaims } from "./claim-file.ts";

/** What claims depend on. */
export interface ClaimsContext {
  readonly log: Logger;
  /** Where promises are kept, now; `null`: nowhere. */
  readonly path: () => string | null;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /** The runs that are announced here by others, or finished here. */
  readonly open: () => readonly OpenRun[];
  /** The poolers in the configuration of this process, now. */
  readonly poolers: () => readonly PoolerConfig[];
  /** Whether the peers of this process have the process that asks among them; `null`: that could not be found out. */
  readonly isPeer: (instance: string) => Promise<boolean | null>;
}

/** The longest text that says who asks, in characters. */
const byMax = 128;

/** Whether what an earlier process has promised is known. */
type Past =
  | { readonly kind: "unread" }
  | { readonly kind: "known" }
  /** It may have promised anything: nobody gets a promise until all of them have ended. */
  | { readonly kind: "unknown"; readonly untilMs: number; readonly why: string };

/**
 * Which run of a cluster may go on: exactly one, over all rolecalls that ask each other. A promise is on the disk before it
 * is given, so that a restart does not promise twice, where there is a `state_file`. After a restart each counts for one more
 * lease, whatever the clocks say.
 */
export class Claims {
  readonly #context: ClaimsContext;
  #book: ClaimBook = emptyBook;
  #past: Past = { kind: "unread" };
  /** Changes that are on the disk follow each other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(context: ClaimsContext) {
    this.#context = context;
  }

  /** Reads what an earlier process has promised. To be called once, before anybody may ask. */
  async start(): Promise<void> {
    const { log, path, now } = this.#context;
    const file = path();
    try {
      const kept = file === null ? null : await readClaims(file);
      if (kept !== null) this.#restore(kept);
      // Without a file an earlier process has kept nothing: who asked it for a promise is asked in turn, and says no.
      this.#past = { kind: "known" };
    } catch (error) {
      const why = errorMessage(error);
      log.error({ problem: why }, "it is not known which switchovers an earlier process has promised to others");
      this.#past = { kind: "unknown", untilMs: now() + claimLeaseMs, why };
    }
  }

  /** The number that the next run of a cluster has at least. */
  next(cluster: string): number {
    return nextGeneration(this.#book, cluster);
  }

  /**
   * Answers another rolecall (`POST /claims`). Never rejects.
   * @param from who calls
   * @param only the one cluster that may be asked for; `null`: all
   * @returns or what is wrong with the body, as a text
   */
  async answer(
    body: unknown,
    { from, only }: { readonly from: string; readonly only: string | null },
  ): Promise<ClaimAnswer | string> {
    const asked = readClaim(body);
    if (typeof asked === "string") return asked;
    const { isDryRun, ...claim } = { ...asked, by: `${asked.by} (${from})`.slice(0, byMax) };
    if (only !== null && claim.cluster !== only)
      return {
        kind: "denied",
        why: `this listener does not answer for ${claim.cluster}`,
        generation: 0,
        isBehind: false,
      };
    const unknown = this.#unknownIn(claim);
    if (unknown !== null) return { kind: "denied", why: unknown, generation: 0, isBehind: false };
    const isMutual = isDryRun ? await this.#context.isPeer(claim.instance).catch(() => null) : null;
    const unsure = this.#unsure(claim.cluster);
    if (unsure !== null) return unsure;
    const { answer, book } = promise(this.#book, claim, this.#now());
    if (answer.kind === "denied") return answer;
    if (isDryRun) return { ...answer, isMutual };
    // Nobody else may be promised the same while it is written.
    this.#book = book;
    try {
      await this.#keep();
    } catch (error) {
      this.#book = withoutClaim(this.#book, claim.run);
      const why = `the promise cannot be kept: ${errorMessage(error)}`;
      return { kind: "denied", why, generation: claim.generation, isBehind: false };
    }
    return answer;
  }

  /**
   * Another rolecall has ended its run, or never begun it (`DELETE /claims/{run}`). Only what was promised ends: a run of
   * this process does not.
   * @param only the one cluster whose promises may be ended; `null`: all
   */
  async give(run: string, only: string | null): Promise<void> {
    const isGiven = ({ claim, kind }: BookedClaim): boolean =>
      claim.run === run && kind === "promised" && (only === null || claim.cluster === only);
    if (!this.#book.entries.some(isGiven)) return;
    this.#book = withoutClaim(this.#book, run);
    await this.#keep().catch(() => {
      // It counts for one more lease after a restart.
    });
  }

  /** A run that was promised is heard of. */
  heard(run: string): void {
    this.#book = renew(this.#book, run, this.#context.now());
  }

  /** Enters a claim of this process, and writes it down. @returns why it must not ask others; `null` if it may */
  async ask(claim: Claim): Promise<string | null> {
    return this.enter(claim) ?? this.write(claim);
  }

  /** Enters a claim of this process. @returns why it must not; `null` if it is entered, and to be written down next */
  enter(claim: Claim): string | null {
    const unsure = this.#unsure(claim.cluster);
    if (unsure?.kind === "denied" && this.#past.kind === "unread") return unsure.why;
    const entered = ask(this.#book, claim, this.#now());
    if ("why" in entered) return entered.why;
    this.#book = entered.book;
    return null;
  }

  /** Writes down a claim that was entered. Never rejects. @returns why that is not possible: then it is given up */
  async write(claim: Claim): Promise<string | null> {
    try {
      await this.#keep();
      return null;
    } catch (error) {
      this.#book = withoutClaim(this.#book, claim.run);
      return `the claim cannot be written down: ${errorMessage(error)}`;
    }
  }

  /** All others have granted it. @returns whether it is sure: this process has promised none that comes before it */
  hold(run: string): boolean {
    const book = hold(this.#book, run);
    if (book !== null) this.#book = book;
    return book !== null;
  }

  /** Whether a claim of this process has not been given up for another one. */
  isOwn(run: string): boolean {
    return this.#book.entries.some(({ claim, kind }) => claim.run === run && (kind === "asked" || kind === "held"));
  }

  /** A run of this process is over. */
  release(run: string): void {
    this.#book = withoutClaim(this.#book, run);
  }

  /** What a claim names and is not configured here. Promises for it would bind nobody, and be kept for ever. */
  #unknownIn({ cluster, databases }: Claim): string | null {
    const own = this.#context.poolers();
    for (const { pooler, database } of databases) {
      const found = ownPooler({ pooler, databases: [database] }, cluster, own);
      if (typeof found === "string") return found;
    }
    return null;
  }

  #restore({ promises, generations }: KeptClaims): void {
    const untilMs = this.#context.now() + claimLeaseMs;
    this.#book = {
      entries: promises.map((claim) => ({ kind: "promised", claim, untilMs })),
      generations,
    };
  }

  #unsure(cluster: string): (ClaimAnswer & { readonly kind: "denied" }) | null {
    const past = this.#past;
    if (past.kind === "known" || (past.kind === "unknown" && this.#context.now() >= past.untilMs)) return null;
    const why =
      past.kind === "unread"
        ? "it has just started"
        : `it has just started, and does not know what it has promised before (${past.why})`;
    return { kind: "denied", why, generation: this.next(cluster) - 1, isBehind: false };
  }

  #now(): { readonly open: readonly OpenRun[]; readonly nowMs: number } {
    return { open: this.#context.open(), nowMs: this.#context.now() };
  }

  async #write(): Promise<void> {
    const path = this.#context.path();
    if (path === null) return;
    const { entries, generations } = this.#book;
    const promises = entries.flatMap(({ kind, claim }) => (kind === "promised" ? [claim] : []));
    await writeClaims(path, { promises, generations });
  }

  /** Writes promises and numbers. Without a file they are forgotten with the process, which {@link start} knows. */
  #keep(): Promise<void> {
    const writing = this.#last.then(() => this.#write());
    this.#last = writing.catch(() => {});
    return writing;
  }
}
