import { LRUCache } from "lru-cache";

/** The checks of one route and cluster that one server of a HAProxy backend sent; `http-check send-state` names it. */
export interface BackendCount {
  readonly backend: string;
  readonly server: string;
  /** `null` if the checks named no cluster. */
  readonly cluster: string | null;
  readonly route: string;
  /** The last answer. */
  readonly status: number;
  readonly count: number;
}

/** The sender of a check, if HAProxy named it. */
export interface CheckSender {
  /** As `pg_read/pg1`, from HAProxy's server state. */
  readonly server: string;
  /** The cluster that the check is about; `null` if it named none that is known. */
  readonly cluster: string | null;
}

interface Row {
  readonly cluster: string | null;
  readonly route: string;
  status: number;
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

  /** Counts an answer to a check. */
  count({ server, cluster }: CheckSender, route: string, status: number): void {
    const rows = this.#servers.get(server) ?? [];
    for (const row of rows) {
      if (row.route !== route || row.cluster !== cluster) continue;
      row.status = status;
      row.count += 1;
      return;
    }
    const kept = rows.length < rowsOfServerMax ? rows : rows.slice(1);
    this.#servers.set(server, [...kept, { cluster, route, status, count: 1 }]);
  }

  /** The checks of each server. */
  rows(): readonly BackendCount[] {
    return [...this.#servers].flatMap(([name, rows]) => {
      const [backend = "", server = ""] = name.split("/");
      return rows.map((row) => ({ backend, server, ...row }));
    });
  }
}
