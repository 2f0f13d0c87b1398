import type { Report } from "../../../core/cluster/documents/report.ts";

/** How many reports are looked at for each that comes, so that those of nodes that are gone are found. */
const lookedAt = 2;

/** Until when reports are remembered. */
export interface ReportLimits {
  /** How long a node may be silent, in ms of the clock of the calls. */
  readonly forgetMs: number;
  /** How many characters their documents and names may have together: the oldest are forgotten first. */
  readonly charactersMax: number;
}

/** The last report of each node: what the next one is a difference from. Reports of nodes that are gone are forgotten. */
export class LastReports {
  readonly #limits: ReportLimits;
  /** In the order in which they came. */
  readonly #reports = new Map<string, { readonly report: Report; readonly atMs: number }>();
  #characters = 0;

  constructor(limits: ReportLimits) {
    this.#limits = limits;
  }

  get(cluster: string, node: string): Report | undefined {
    return this.#reports.get(keyOf(cluster, node))?.report;
  }

  set(cluster: string, node: string, { report, atMs }: { readonly report: Report; readonly atMs: number }): void {
    const { forgetMs, charactersMax } = this.#limits;
    const key = keyOf(cluster, node);
    this.#delete(key);
    this.#reports.set(key, { report, atMs });
    this.#characters += sizeOf(key, report);
    let looked = 0;
    for (const [oldest, last] of this.#reports) {
      const isGone = looked < lookedAt && atMs - last.atMs > forgetMs;
      if (!isGone && this.#characters <= charactersMax) return;
      this.#delete(oldest);
      looked += 1;
    }
  }

  clear(): void {
    this.#reports.clear();
    this.#characters = 0;
  }

  #delete(key: string): void {
    const last = this.#reports.get(key);
    if (last === undefined) return;
    this.#characters -= sizeOf(key, last.report);
    this.#reports.delete(key);
  }
}

function keyOf(cluster: string, node: string): string {
  return JSON.stringify([cluster, node]);
}

function sizeOf(key: string, { document, asWritten }: Report): number {
  return key.length + document.length + (asWritten?.length ?? 0);
}
