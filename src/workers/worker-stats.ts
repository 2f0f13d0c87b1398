import { type FastPathCounts, noFastPathCounts, sumFastPathCounts } from "../http/message/fast-path-counts.ts";
import type { WorkerReport } from "./messages.ts";

type Answers = WorkerReport["answers"];

/** What workers have done, those that are gone too. */
export class WorkerStats {
  readonly #gone = new Map<string, Answers[number]>();
  #goneFastPath: FastPathCounts = noFastPathCounts;
  #goneCpuS = 0;
  #lost = 0;

  /** How many workers ended that were not told to. */
  get lost(): number {
    return this.#lost;
  }

  /** Keeps what a worker did that is gone. */
  addExited({ answers, fastPath, cpuS }: WorkerReport): void {
    this.#lost += 1;
    this.#goneFastPath = sumFastPathCounts([this.#goneFastPath, fastPath]);
    this.#goneCpuS += cpuS;
    for (const { route, status, count } of answers) {
      const key = `${route} ${status}`;
      this.#gone.set(key, { route, status, count: count + (this.#gone.get(key)?.count ?? 0) });
    }
  }

  /** The answers of all; a route and status may come more than once. */
  answers(living: readonly WorkerReport[]): Answers {
    return [...this.#gone.values(), ...living.flatMap(({ answers }) => answers)];
  }

  /** What the fast paths of all did. */
  fastPathCounts(living: readonly WorkerReport[]): readonly FastPathCounts[] {
    return [this.#goneFastPath, ...living.map(({ fastPath }) => fastPath)];
  }

  /** What all have used of the machine. */
  usage(living: readonly WorkerReport[]): { readonly cpuS: number; readonly residentBytes: number } {
    return {
      cpuS: living.reduce((sum, { cpuS }) => sum + cpuS, this.#goneCpuS),
      residentBytes: living.reduce((sum, { residentBytes }) => sum + residentBytes, 0),
    };
  }
}
