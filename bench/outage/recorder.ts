import type { Attempt, Cut, LeaderChange } from "./samples.ts";

/** The most attempts kept of one event: more than twenty pools make in two minutes. */
const attemptsMax = 400_000;
/** Heartbeats kept: the last minute and more. */
const beatsMax = 4_000;

/** Collects what all clients and pollers see, and knows the state of the event that runs. */
export class Recorder {
  #attempts: Attempt[] = [];
  #cuts: Cut[] = [];
  #yesAt = new Map<string, number>();
  readonly #beats: { readonly at: number; readonly committedAt: number }[] = [];
  #from: string | undefined;
  #startedAt = 0;
  #promoted: { readonly node: string; readonly at: number } | undefined;
  #dropped = 0;

  /** Begins to record an event in which this leader is replaced. */
  begin(from: string): void {
    this.#attempts = [];
    this.#cuts = [];
    this.#yesAt = new Map();
    this.#promoted = undefined;
    this.#startedAt = performance.now();
    this.#from = from;
  }

  /** Ends the event. @throws Error if no node was promoted, or more happened than can be kept */
  end(number: number, kind: LeaderChange["kind"]): LeaderChange {
    const [from, promoted] = [this.#from, this.#promoted];
    this.#from = undefined;
    if (from === undefined || promoted === undefined) throw new Error(`Cannot record event ${number}: no promotion`);
    if (this.#dropped > 0) throw new Error(`Cannot record event ${number}: ${this.#dropped} attempts too many`);
    const yes = [...this.#yesAt].filter(([key]) => key.endsWith(` ${promoted.node}`));
    return {
      number,
      kind,
      startedAt: this.#startedAt,
      endedAt: performance.now(),
      from,
      to: promoted.node,
      promotedAt: promoted.at,
      yesAt: Object.fromEntries(yes.map(([key, at]) => [key.slice(0, key.lastIndexOf(" ")), at])),
      attempts: this.#attempts,
      cuts: this.#cuts,
    };
  }

  /** Gives up the event. */
  abandon(): void {
    this.#from = undefined;
  }

  get isRecording(): boolean {
    return this.#from !== undefined;
  }

  /** The node that was promoted in the event that runs. */
  get promoted(): string | undefined {
    return this.isRecording ? this.#promoted?.node : undefined;
  }

  attempt(attempt: Attempt): void {
    if (!this.isRecording) return;
    if (this.#attempts.length < attemptsMax) this.#attempts.push(attempt);
    else this.#dropped += 1;
  }

  cut(cut: Cut): void {
    if (this.isRecording && this.#cuts.length < attemptsMax) this.#cuts.push(cut);
  }

  /** An instance of rolecall says that this node is the primary. Only its first time counts. */
  yes(edge: string, node: string, at: number): void {
    const key = `${edge} ${node}`;
    if (this.isRecording && node !== this.#from && !this.#yesAt.has(key)) this.#yesAt.set(key, at);
  }

  /** A node says that it is not in recovery. Only the first one beside the old leader counts. */
  writable(node: string, at: number): void {
    if (this.isRecording && node !== this.#from) this.#promoted ??= { node, at };
  }

  /** A heartbeat, which was sent at `at`, is committed. */
  beat(at: number, committedAt: number): void {
    this.#beats.push({ at, committedAt });
    if (this.#beats.length > beatsMax) this.#beats.splice(0, beatsMax / 2);
  }

  /** How much older the heartbeat of a read is than the newest one that was committed before it started. */
  behind(beatRead: number, startedAt: number): number {
    const newest = this.#beats.findLast(({ committedAt }) => committedAt < startedAt);
    return newest === undefined ? 0 : Math.max(0, newest.at - beatRead);
  }

  /** Whether these pools have written on the promoted node. */
  haveWritten(pools: readonly string[]): boolean {
    const written = new Set(
      this.#attempts
        .filter(({ kind, node }) => kind === "write" && node === this.#promoted?.node)
        .map(({ pool }) => pool),
    );
    return pools.every((pool) => written.has(pool));
  }
}
