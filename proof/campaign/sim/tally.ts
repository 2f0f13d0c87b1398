import type { TimedViolation } from "./run-log.ts";
import type { RunResult } from "./simulation.ts";

type Counts = Readonly<Record<string, number>>;

/** What a campaign has counted, as JSON. */
export interface SavedTally {
  readonly runs: number;
  readonly simulatedMs: number;
  readonly cpuMs: number;
  readonly answers: number;
  readonly moved: number;
  readonly armed: Counts;
  readonly injected: Counts;
  readonly broken: Counts;
  /** How many recoveries took so many tenths of a second. */
  readonly recoveries: Counts;
}

/** What a campaign of many runs has counted. */
export class Tally {
  readonly armed: Map<string, number>;
  readonly injected: Map<string, number>;
  readonly broken: Map<string, number>;
  /** How many recoveries took so many tenths of a second. */
  readonly #recoveries: Map<string, number>;
  readonly #cpu = process.cpuUsage();
  readonly #cpuBeforeMs: number;
  #simulatedMs: number;
  #answers: number;
  #runs: number;
  #moved: number;

  /** @param saved what an interrupted campaign has counted; null: nothing */
  constructor(saved: SavedTally | null = null) {
    const mapOf = (counts: Counts = {}): Map<string, number> => new Map(Object.entries(counts));
    this.armed = mapOf(saved?.armed);
    this.injected = mapOf(saved?.injected);
    this.broken = mapOf(saved?.broken);
    this.#recoveries = mapOf(saved?.recoveries);
    this.#cpuBeforeMs = saved?.cpuMs ?? 0;
    this.#simulatedMs = saved?.simulatedMs ?? 0;
    this.#answers = saved?.answers ?? 0;
    this.#runs = saved?.runs ?? 0;
    this.#moved = saved?.moved ?? 0;
  }

  /** Everything that was counted, to be continued later. */
  saved(): SavedTally {
    return {
      runs: this.#runs,
      simulatedMs: Math.round(this.#simulatedMs),
      cpuMs: Math.round(this.#cpuMs),
      answers: this.#answers,
      moved: this.#moved,
      armed: Object.fromEntries(this.armed),
      injected: Object.fromEntries(this.injected),
      broken: Object.fromEntries(this.broken),
      recoveries: Object.fromEntries(this.#recoveries),
    };
  }

  add({ simulatedMs, answers, recoveredMs, violations, movedAway }: RunResult): void {
    this.#runs += 1;
    this.#simulatedMs += simulatedMs;
    this.#answers += answers;
    if (movedAway) this.#moved += 1;
    for (const ms of recoveredMs) {
      const tenths = String(Math.ceil(ms / 100));
      this.#recoveries.set(tenths, (this.#recoveries.get(tenths) ?? 0) + 1);
    }
    const rules = new Set(violations.map(({ rule }: TimedViolation) => rule));
    for (const rule of rules) this.broken.set(rule, (this.broken.get(rule) ?? 0) + 1);
  }

  /** The report of a campaign, for people. */
  lines(): readonly string[] {
    const cpuS = this.#cpuMs / 1_000;
    const simulatedS = this.#simulatedMs / 1_000;
    const at = (share: number): string => `${(this.#recoveredWithin(share) / 10).toFixed(1)} s`;
    const rows = (counts: ReadonlyMap<string, number>): string =>
      [...counts]
        .sort(([one], [two]) => (one < two ? -1 : 1))
        .map(([name, count]) => `${name} ${count}`)
        .join(", ");
    return [
      `${this.#runs} runs, ${Math.round(simulatedS)} virtual s in ${cpuS.toFixed(1)} s of processor time: ${Math.round(simulatedS / cpuS)} × real time per core`,
      `${this.#answers} answers judged; recovery: half within ${at(0.5)}, 99 % within ${at(0.99)}, longest ${at(1)}`,
      `runs that ended because rolecall followed a clone: ${this.#moved}`,
      `faults injected: ${rows(this.injected)}`,
      `promises that had to hold: ${rows(this.armed)}`,
      this.broken.size === 0 ? "no promise was broken" : `promises broken, in runs: ${rows(this.broken)}`,
    ];
  }

  get #cpuMs(): number {
    const { user, system } = process.cpuUsage(this.#cpu);
    return this.#cpuBeforeMs + (user + system) / 1e3;
  }

  /** Within how many tenths of a second a share of the recoveries ended. */
  #recoveredWithin(share: number): number {
    const sorted = [...this.#recoveries].map(([tenths, count]) => [Number(tenths), count] as const);
    sorted.sort(([one], [two]) => one - two);
    let left = share * sorted.reduce((sum, [, count]) => sum + count, 0);
    for (const [tenths, count] of sorted) if ((left -= count) <= 0) return tenths;
    return 0;
  }
}
