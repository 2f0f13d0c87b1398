import { LimitCensus } from "./limit-census.ts";
import { NodeCensus } from "./node-census.ts";
import { ServerCensus } from "./server-census.ts";

/** Counts answers by route and status. Both have few values, so it stays small; counting allocates nothing. */
export class AnswerCounter {
  /** The limits for lag that checks request. */
  readonly limits: LimitCensus = new LimitCensus();
  /** The nodes that checks ask for. */
  readonly nodes: NodeCensus = new NodeCensus();
  readonly #counts = new Map<string, Map<number, { count: number }>>();
  /** Checks that name their server. */
  readonly servers: ServerCensus = new ServerCensus();

  count(route: string, status: number): void {
    let statuses = this.#counts.get(route);
    if (statuses === undefined) this.#counts.set(route, (statuses = new Map()));
    const cell = statuses.get(status);
    if (cell === undefined) statuses.set(status, { count: 1 });
    else cell.count += 1;
  }

  /** Iterates over the counts. */
  *rows(): IterableIterator<{ readonly route: string; readonly status: number; readonly count: number }> {
    for (const [route, statuses] of this.#counts) {
      for (const [status, { count }] of statuses) yield { route, status, count };
    }
  }
}
