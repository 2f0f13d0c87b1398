import { LRUCache } from "lru-cache";

/** The checks of one route and cluster that one server of a HAProxy backend sent; `http-check send-state` names it. */
export interface BackendCount {
  readonly backend: string;
  readonly server: string;
  /** `null` if the checks named no cluster. */
  readonly cluster: string | null;
  readonly route: string;
  /** The last answer, its reason (`null` for a yes), and how long ago it was sent, in ms. */
  readonly status: number;
  readonly reason: string | null;
  readonly agoMs: number;
  /** Whether the server takes new sessions after that answer. */
  readonly takes: boolean;
  readonly count: number;
}

/** The sender of a check, if HAProxy named it. */
export interface CheckSender {
  /** As `pg_read/pg1`, from HAProxy's server state. */
  readonly server: string;
  /** The cluster that the check is about; `null` if it named none that is known. */
  readonly cluster: string | null;
  /** Why the answer is a no; `null` for a yes. */
  readonly reason: string | null;
  /** Whether HAProxy sends it new sessions once it has read the answer. */
  readonly takes: boolean;
}

interface Row {
  readonly cluster: string | null;
  readonly route: string;
  status: number;
  reason: string | null;
  takes: boolean;
  /** When the last answer was sent, in ms of the monotonic clock. */
  lastMs: number;
  count: number;
}

/** How many rows are kept: servers, times the routes and clusters that each of them checks. */
const rowsMax = 2_000;
/** How many rows one server may have. The oldest one goes first. */
const rowsOfServerMax = 32;

/**
 * Counts checks by the server that sent them. Anyone who reaches a listener can invent servers: when it is full, the
 * server that was seen least recently is forgotten. Counting a known server allocates nothing.
 */
export class ServerCensus {
  readonly #servers = new LRUCache<string, Row[]>({ maxSize: rowsMax, sizeCalculation: (rows) => rows.length });
  readonly #now: () => number;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts an answer to a check. */
  count({ server, cluster, reason, takes }: CheckSender, route: string, status: number): void {
    const lastMs = this.#now();
    const rows = this.#servers.get(server) ?? [];
    for (const row of rows) {
      if (row.route !== route || row.cluster !== cluster) continue;
      row.status = status;
      row.reason = reason;
      row.takes = takes;
      row.lastMs = lastMs;
      row.count += 1;
      return;
    }
    const kept = rows.length < rowsOfServerMax ? rows : rows.slice(1);
    this.#servers.set(server, [...kept, { cluster, route, status, reason, takes, lastMs, count: 1 }]);
  }

  /** The checks of each server. */
  rows(): readonly BackendCount[] {
    const nowMs = this.#now();
    return [...this.#servers].flatMap(([name, rows]) => {
      const [backend = "", server = ""] = name.split("/");
      return rows.map(({ lastMs, ...row }) => ({ backend, server, ...row, agoMs: Math.round(nowMs - lastMs) }));
    });
  }
}
