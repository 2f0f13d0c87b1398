import type { TimedViolation } from "./run-log.ts";
import type { RunResult } from "./simulation.ts";

/** What a campaign of many runs has counted. */
export class Tally {
  readonly armed = new Map<string, number>();
  readonly injected = new Map<string, number>();
  readonly broken = new Map<string, number>();
  readonly #cpu = process.cpuUsage();
  readonly #recoveredMs: number[] = [];
  #simulatedMs = 0;
  #answers = 0;
  #runs = 0;
  #moved = 0;

  add({ simulatedMs, answers, recoveredMs, violations, movedAway }: RunResult): void {
    this.#runs += 1;
    this.#simulatedMs += simulatedMs;
    this.#answers += answers;
    if (movedAway) this.#moved += 1;
    this.#recoveredMs.push(...recoveredMs);
    const rules = new Set(violations.map(({ rule }: TimedViolation) => rule));
    for (const rule of rules) this.broken.set(rule, (this.broken.get(rule) ?? 0) + 1);
  }

  /** The report of a campaign, for people. */
  lines(): readonly string[] {
    const { user, system } = process.cpuUsage(this.#cpu);
    const cpuS = (user + system) / 1e6;
    const simulatedS = this.#simulatedMs / 1_000;
    const sorted = this.#recoveredMs.toSorted((one, two) => one - two);
    const at = (share: number): string =>
      `${((sorted[Math.floor(share * (sorted.length - 1))] ?? 0) / 1_000).toFixed(1)} s`;
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
}
