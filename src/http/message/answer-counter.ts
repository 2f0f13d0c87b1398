import { LimitCensus } from "./limit-census.ts";

/** Checks from one server of a HAProxy backend, which `http-check send-state` names. */
export interface BackendCount {
  readonly backend: string;
  readonly server: string;
  readonly route: string;
  /** The last answer. */
  readonly status: number;
  readonly count: number;
}

/** How many servers of backends are counted. */
const serversMax = 2_000;

/** Counts answers by route and status. Both have few values, so it stays small; counting allocates nothing. */
export class AnswerCounter {
  /** The limits for lag that checks request. */
  readonly limits: LimitCensus = new LimitCensus();
  readonly #counts = new Map<string, Map<number, { count: number }>>();
  readonly #backends = new Map<string, { status: number; count: number }>();

  count(route: string, status: number): void {
    let statuses = this.#counts.get(route);
    if (statuses === undefined) this.#counts.set(route, (statuses = new Map()));
    const cell = statuses.get(status);
    if (cell === undefined) statuses.set(status, { count: 1 });
    else cell.count += 1;
  }

  /** Counts an answer to a server's check. @param server as `pg_read/pg1`, from HAProxy's server state */
  countServer(server: string, route: string, status: number): void {
    const key = `${server} ${route}`;
    const cell = this.#backends.get(key);
    if (cell !== undefined) {
      cell.status = status;
      cell.count += 1;
    } else if (this.#backends.size < serversMax) this.#backends.set(key, { status, count: 1 });
  }

  /** The servers whose checks named them. */
  backends(): readonly BackendCount[] {
    return [...this.#backends].map(([key, cell]) => {
      const [name = "", route = ""] = key.split(" ");
      const [backend = "", server = ""] = name.split("/");
      return { backend, server, route, ...cell };
    });
  }

  /** Iterates over the counts. */
  *rows(): IterableIterator<{ readonly route: string; readonly status: number; readonly count: number }> {
    for (const [route, statuses] of this.#counts) {
      for (const [status, { count }] of statuses) yield { route, status, count };
    }
  }
}
