import type { FleetRunResult } from "./fleet-simulation.ts";

/** What a campaign of many runs of a fleet has counted. */
export class FleetTally {
  readonly armed = new Map<string, number>();
  readonly injected = new Map<string, number>();
  readonly broken = new Map<string, number>();
  readonly #cpu = process.cpuUsage();
  readonly #asked: number[] = [];
  #runs = 0;
  #simulatedMs = 0;
  #answers = 0;
  #unexcused = 0;

  add({ violations, simulatedMs, answers, unexcused, asked }: FleetRunResult): void {
    this.#runs += 1;
    this.#simulatedMs += simulatedMs;
    this.#answers += answers;
    this.#unexcused += unexcused;
    if (asked !== null) this.#asked.push(asked);
    for (const rule of new Set(violations.map((violation) => violation.rule)))
      this.broken.set(rule, (this.broken.get(rule) ?? 0) + 1);
  }

  /** The report of a campaign, for people. */
  lines(): readonly string[] {
    const { user, system } = process.cpuUsage(this.#cpu);
    const cpuS = (user + system) / 1e6;
    const simulatedS = this.#simulatedMs / 1_000;
    const rows = (counts: ReadonlyMap<string, number>): string =>
      [...counts]
        .toSorted(([one], [two]) => (one < two ? -1 : 1))
        .map(([name, count]) => `${name} ${count}`)
        .join(", ");
    const sum = this.#asked.reduce((total, each) => total + each, 0);
    const most = Math.max(0, ...this.#asked).toFixed(3);
    return [
      `${this.#runs} runs, ${Math.round(simulatedS)} virtual s in ${cpuS.toFixed(1)} s of processor time: ${Math.round(simulatedS / cpuS)} × real time per core, ${(this.#runs / cpuS).toFixed(2)} runs per second`,
      `${this.#answers} answers judged; of the fully modelled clusters ${this.#unexcused} without an excuse`,
      `at rest a node was asked ${(sum / Math.max(1, this.#asked.length)).toFixed(3)} times an interval, at most ${most}`,
      `memory: ${Math.round(process.resourceUsage().maxRSS / 1024)} MiB`,
      `faults injected: ${rows(this.injected)}`,
      `promises that had to hold: ${rows(this.armed)}`,
      this.broken.size === 0 ? "no promise was broken" : `promises broken, in runs: ${rows(this.broken)}`,
    ];
  }
}
