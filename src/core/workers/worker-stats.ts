import { type FastPathCounts, noFastPathCounts, sumFastPathCounts } from "../http/message/fast-path-counts.ts";
import type { WorkerReport } from "./messages.ts";

type Answers = WorkerReport["answers"];

/** What workers used of the machine, how many run, and how many exited unexpectedly. */
export interface WorkerUsage {
  readonly cpuS: number;
  readonly residentBytes: number;
  readonly count: number;
  readonly lost: number;
}

/** What all workers have done, including those that have exited. */
export class WorkerStats {
  readonly #exited = new Map<string, Answers[number]>();
  #exitedFastPath: FastPathCounts = noFastPathCounts;
  #exitedCpuS = 0;
  #lost = 0;

  /** Keeps the last report of a worker that exited, unexpectedly (`lost`) or because it was told to (`left`). */
  addExited({ answers, fastPath, cpuS }: WorkerReport, how: "lost" | "left"): void {
    if (how === "lost") this.#lost += 1;
    this.#exitedFastPath = sumFastPathCounts([this.#exitedFastPath, fastPath]);
    this.#exitedCpuS += cpuS;
    for (const { route, status, count } of answers) {
      const key = `${route} ${status}`;
      this.#exited.set(key, { route, status, count: count + (this.#exited.get(key)?.count ?? 0) });
    }
  }

  /** The answers of all workers. A route and status may occur more than once. */
  answers(running: readonly WorkerReport[]): Answers {
    return [...this.#exited.values(), ...running.flatMap(({ answers }) => answers)];
  }

  /** What the fast path did in all workers. */
  fastPathCounts(running: readonly WorkerReport[]): readonly FastPathCounts[] {
    return [this.#exitedFastPath, ...running.map(({ fastPath }) => fastPath)];
  }

  /** What all workers have used of the machine, how many run, and how many exited unexpectedly. */
  usage(running: readonly WorkerReport[]): WorkerUsage {
    return {
      count: running.length,
      lost: this.#lost,
      cpuS: running.reduce((sum, { cpuS }) => sum + cpuS, this.#exitedCpuS),
      residentBytes: running.reduce((sum, { residentBytes }) => sum + residentBytes, 0),
    };
  }
}
