import type { Report } from "../../cluster/documents/report.ts";

/** How many reports are looked at for each that comes, so that those of nodes that are gone are found. */
const lookedAt = 2;

/** The last report of each node: what the next one is a difference from. Reports of nodes that are gone are forgotten. */
export class LastReports {
  readonly #forgetMs: number;
  /** In the order in which they came. */
  readonly #reports = new Map<string, { readonly report: Report; readonly atMs: number }>();

  /** @param forgetMs how long a node may be silent, in ms of the clock of the calls */
  constructor(forgetMs: number) {
    this.#forgetMs = forgetMs;
  }

  get(cluster: string, node: string): Report | undefined {
    return this.#reports.get(keyOf(cluster, node))?.report;
  }

  set(cluster: string, node: string, { report, atMs }: { readonly report: Report; readonly atMs: number }): void {
    const key = keyOf(cluster, node);
    this.#reports.delete(key);
    this.#reports.set(key, { report, atMs });
    let looked = 0;
    for (const [oldest, last] of this.#reports) {
      if (looked === lookedAt || atMs - last.atMs <= this.#forgetMs) return;
      this.#reports.delete(oldest);
      looked += 1;
    }
  }

  clear(): void {
    this.#reports.clear();
  }
}

function keyOf(cluster: string, node: string): string {
  return JSON.stringify([cluster, node]);
}
