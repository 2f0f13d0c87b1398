/** Where answers of one route and status are counted. */
export interface TallyCell {
  count: number;
}

/** Counts answers by route and status. Both come from short lists, so it stays small; counting allocates nothing. */
export class Tally {
  readonly #counts = new Map<string, Map<number, TallyCell>>();

  count(route: string, status: number): void {
    this.cell(route, status).count += 1;
  }

  /** The cell of a route and status, for who counts the same again and again. */
  cell(route: string, status: number): TallyCell {
    let statuses = this.#counts.get(route);
    if (statuses === undefined) this.#counts.set(route, (statuses = new Map()));
    let cell = statuses.get(status);
    if (cell === undefined) statuses.set(status, (cell = { count: 0 }));
    return cell;
  }

  /** Every route and status that was answered, with how often. */
  *rows(): IterableIterator<{ readonly route: string; readonly status: number; readonly count: number }> {
    for (const [route, statuses] of this.#counts) {
      for (const [status, { count }] of statuses) if (count > 0) yield { route, status, count };
    }
  }
}
