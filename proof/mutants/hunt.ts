import type { Mutant } from "./mutant.ts";
import type { Order, TestRecord } from "./protocol.ts";
import type { Result } from "./results.ts";
import { Worker } from "./worker.ts";

type LoadOrder = Extract<Order, { kind: "load" }>;

/** A mutant is given up by a test after this many times the test's usual duration, and some time more, in ms. */
const timeoutFactor = 10;
const timeoutMs = 1_500;
/** How long a process may be silent beyond the duration of a test, and while it loads, in ms. */
const silenceMs = 10_000;
const loadSilenceMs = 120_000;

/** What the tests do without a mutant. */
export interface Baseline {
  readonly tests: readonly TestRecord[];
  /** The mutants that loading the tests executes: each needs a process of its own. */
  readonly atImport: readonly number[];
}

/** Whether a mutant was killed, and by what. */
export type Verdict = Pick<Result, "killedBy" | "message">;

/** How hard a hunt tries. */
export interface HuntOptions {
  /**
   * Whether each mutant that survives is tried again in a process of its own: what was computed while the tests were
   * loaded, or for another mutant, can hide it.
   */
  readonly isThorough: boolean;
  /** Tests that take longer are left out, in ms. */
  readonly slowestMs: number;
}

/** Runs the tests on one mutant after another, those first that are quick and have killed neighbours. */
export class Hunt {
  readonly #load: LoadOrder;
  readonly #options: HuntOptions;
  readonly #kills = new Map<string, number>();
  #worker: Worker | null = null;
  #baseline: Baseline = { tests: [], atImport: [] };

  constructor(load: LoadOrder, options: HuntOptions) {
    this.#load = load;
    this.#options = options;
  }

  /** Runs tests without a mutant, all but those that were measured before. */
  async measure(before: readonly TestRecord[], note: (line: string) => void): Promise<Baseline> {
    const worker = new Worker();
    const loaded = await worker.do(this.#load, loadSilenceMs);
    if (loaded?.kind !== "loaded") throw new Error("Cannot load the tests: the process ended");
    if (loaded.problem !== null) note(`not loaded: ${loaded.problem}`);
    const tests = [...before];
    const end = await worker.do({ kind: "measure", known: before.map(({ id }) => id) }, loadSilenceMs, (answer) => {
      if (answer.kind === "measured") tests.push(answer.test);
    });
    await worker.stop();
    if (end === null) throw new Error(`Cannot measure the tests: the process ended after ${tests.at(-1)?.id}`);
    return { tests, atImport: loaded.reached };
  }

  /** Sets what the tests do without a mutant. */
  use(baseline: Baseline): void {
    this.#baseline = baseline;
  }

  /**
   * Looks for a test that fails with a mutant.
   * @param number the number of the mutant
   * @param inFile the numbers of all mutants of its file
   */
  async try(mutant: Mutant, number: number, inFile: readonly number[]): Promise<Verdict> {
    const isAtImport =
      this.#baseline.atImport.includes(number) && this.#testsFor(mutant.file, new Set([number])).length === 0;
    const reaching = this.#testsFor(mutant.file, isAtImport ? new Set(inFile) : new Set([number]));
    const tests = isAtImport && reaching.length === 0 ? this.#ownTests(mutant.file) : reaching;
    if (tests.length === 0) return { killedBy: null, message: "no test executes it" };
    const verdict = isAtImport ? null : await this.#tryWith(await this.#ready(), number, tests);
    const isOpen = verdict === null || (verdict.killedBy === null && this.#options.isThorough);
    const last = isOpen ? await this.#tryAlone(number, tests) : verdict;
    if (last.killedBy !== null) {
      const key = `${mutant.file} ${last.killedBy}`;
      this.#kills.set(key, (this.#kills.get(key) ?? 0) + 1);
    }
    return last;
  }

  /** Ends the process. */
  async stop(): Promise<void> {
    await this.#worker?.stop();
    this.#worker = null;
  }

  #testsFor(file: string, numbers: ReadonlySet<number>): readonly TestRecord[] {
    const rank = ({ id, ms }: TestRecord): number => (ms + 1) / (1 + 4 * (this.#kills.get(`${file} ${id}`) ?? 0));
    return this.#baseline.tests
      .filter(({ problem, ms }) => problem === null && ms <= this.#options.slowestMs)
      .filter(({ reached }) => reached.some((one) => numbers.has(one)))
      .toSorted((one, other) => rank(one) - rank(other));
  }

  /** A file of constants is executed while the tests are loaded only. Then the tests that bear its name count. */
  #ownTests(file: string): readonly TestRecord[] {
    return this.#baseline.tests.filter(({ id, problem }) => problem === null && id.startsWith(`${file}.test.js > `));
  }

  async #ready(): Promise<Worker> {
    if (this.#worker !== null && !this.#worker.isGone) return this.#worker;
    this.#worker = new Worker();
    await this.#worker.do(this.#load, loadSilenceMs);
    return this.#worker;
  }

  async #tryAlone(number: number, tests: readonly TestRecord[]): Promise<Verdict> {
    const files = new Set(tests.map(({ id }) => id.slice(0, id.indexOf(" > "))));
    const worker = new Worker();
    try {
      const loaded = await worker.do(
        {
          ...this.#load,
          files: this.#load.files.filter((file) => [...files].some((name) => file.endsWith(`/build/test/${name}`))),
          active: number,
        },
        loadSilenceMs,
      );
      if (loaded?.kind !== "loaded") return { killedBy: "loading the tests", message: "the process ended" };
      if (loaded.problem !== null) return { killedBy: "loading the tests", message: loaded.problem };
      return (await this.#tryWith(worker, number, tests)) ?? { killedBy: null, message: "spoilt" };
    } finally {
      await worker.stop();
    }
  }

  /** @returns `null` if the test that failed also fails without the mutant now */
  async #tryWith(worker: Worker, number: number, tests: readonly TestRecord[]): Promise<Verdict | null> {
    let running = "";
    const longestMs = Math.max(...tests.map(({ ms }) => ms));
    const answer = await worker.do(
      {
        kind: "try",
        mutant: number,
        tests: tests.map(({ id, ms }) => ({ id, timeoutMs: ms * timeoutFactor + timeoutMs })),
      },
      longestMs * timeoutFactor + silenceMs,
      (progress) => {
        if (progress.kind === "running") running = progress.id;
      },
    );
    if (answer === null) return { killedBy: running, message: "the process ended or hung" };
    if (answer.kind !== "tried") throw new Error(`Cannot try a mutant: got ${answer.kind}`);
    const { killedBy, message, isSpoilt } = answer;
    if (!isSpoilt) return { killedBy, message };
    await worker.stop();
    return null;
  }
}
