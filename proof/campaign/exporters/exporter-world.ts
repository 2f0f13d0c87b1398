import type { ExporterPage } from "../../../src/core/cluster/exporter/exporter-report.ts";
import { primaryPage, replicaPage } from "../../../test/fake/exporter-page.ts";

/** Random numbers from a seed (mulberry32), from 0 up to 1. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * How standbys are named in sender lists. `node`: as they are configured; `receiver`: all with the default of
 * PostgreSQL; `own`: each with a name that nothing else has (pg_auto_failover). An archiver may stream beside them.
 */
export type StandbyNames = "node" | "receiver" | "own";

/** What is wrong with the answers of an exporter. `stale`: its pages stand still, as when its database is frozen. */
export type ExporterFault = "none" | "dead" | "half" | "stale" | "page hangs";

/** One database server of the world, and its exporter. */
export interface Server {
  readonly name: string;
  isAlive: boolean;
  /** Whether it is in recovery. Two can be primaries: an old one may come back as one. */
  isStandby: boolean;
  received: number;
  replayed: number;
  /** The server that feeds it; `null`: nobody. */
  upstream: Server | null;
  fault: ExporterFault;
  /** The page from which a faulty exporter repeats, or takes the rows that it still has. */
  frozen: ExporterPage | null;
  lacking: ReadonlySet<keyof ExporterPage>;
}

/** Fields of a page that a half page may lack, with their values then. */
const lackable: Partial<ExporterPage> = {
  written: null,
  received: null,
  replayed: null,
  senders: [],
  streaming: null,
  receiver: null,
  system: null,
  databaseTimeS: null,
  isInRecovery: null,
};

/** Databases that replicate without a cluster manager, one of them the primary, and what happens to them. */
export class ExporterWorld {
  readonly servers: readonly Server[];
  /** The primary that clients write to. It may be dead. */
  primary: Server;
  readonly family: ExporterPage["family"];
  /** WAL that the primary writes, in bytes per second. */
  readonly rate: number;
  readonly names: StandbyNames;
  /** Whether lists show the addresses of their clients as those by which the databases are known. */
  readonly hasAddresses: boolean;
  readonly #hasArchiver: boolean;
  readonly #chance: () => number;
  #promoteAtS = Infinity;

  constructor(seed: number) {
    this.#chance = seeded(seed);
    this.family = this.#chance() < 0.5 ? "pg_exporter" : "postgres_exporter";
    this.rate = this.#chance() < 0.2 ? 0 : Math.round(this.#chance() * 1_000_000);
    this.servers = ["pg1", "pg2", "pg3"].map((name) => ({
      name,
      isAlive: true,
      isStandby: name !== "pg1",
      received: 1_000_000,
      replayed: 1_000_000,
      upstream: null,
      fault: "none",
      frozen: null,
      lacking: new Set(),
    }));
    this.primary = this.#pick(this.servers.slice(0, 1));
    // A stream of its own: a seed means the same faults as before there were other names.
    const drawn = seeded(seed ^ 0x2545_f491);
    this.names = drawn() < 0.5 ? "node" : drawn() < 0.5 ? "receiver" : "own";
    this.hasAddresses = this.names === "node" || drawn() < 0.5;
    this.#hasArchiver = this.names !== "node" && drawn() < 0.3;
    for (const server of this.servers) server.upstream = server.isStandby ? this.primary : null;
  }

  /** Lets a second pass. @param isCalm nothing new goes wrong, and all faults have ended */
  step(atS: number, isCalm: boolean): void {
    if (isCalm) this.#heal();
    else this.#disturb(atS);
    if (atS >= this.#promoteAtS) this.#promote();
    const { primary } = this;
    if (primary.isAlive) primary.received += this.rate;
    for (const server of this.servers) {
      if (!server.isStandby) server.replayed = server.received;
      else if (server.isAlive) this.#receive(server);
    }
  }

  /** Whether standbys state positions, or lists that show whose they are. */
  get isLagKnown(): boolean {
    return this.family === "pg_exporter" || this.hasAddresses;
  }

  /** How far a server's replay is behind what clients have written, in bytes. */
  lagOf(server: Server): number {
    return this.primary.received - server.replayed;
  }

  /** What the exporter of a server answers to a request for its page; `null`: nothing. */
  page(server: Server, atS: number): ExporterPage | null {
    if (!server.isAlive || server.fault === "dead" || server.fault === "page hangs") return null;
    // postgres_exporter queries the database for every page: a frozen one gives none.
    if (server.fault === "stale") return this.family === "pg_exporter" ? server.frozen : null;
    const page = this.#wholePage(server, atS);
    server.frozen = page;
    if (server.fault !== "half") return page;
    const gone = Object.entries(lackable).filter(([key]) => [...server.lacking].some((lacking) => lacking === key));
    return { ...page, ...Object.fromEntries(gone) };
  }

  #wholePage(server: Server, atS: number): ExporterPage {
    const isPrometheus = this.family === "postgres_exporter";
    const base = {
      family: this.family,
      databaseTimeS: isPrometheus ? null : atS,
      system: isPrometheus ? null : "7000000000000000001",
    };
    const fed = this.servers.filter((other) => other.isAlive && other.upstream === server);
    const archiver = { name: "barman_receive_wal", address: "10.9.9.9", isStreaming: true, replayed: null };
    const senders = [
      ...fed.map(({ name, replayed }) => ({
        name: this.#listedName(name),
        address: this.hasAddresses ? name : `10.0.0.${name.slice(2)}`,
        isStreaming: true,
        replayed,
      })),
      ...(this.#hasArchiver && !server.isStandby ? [archiver] : []),
    ];
    if (!server.isStandby)
      return { ...primaryPage, ...base, written: server.received, senders, streaming: senders.length };
    const receiver = server.upstream === null ? null : { host: server.upstream.name, port: 5432, isStreaming: true };
    const own = isPrometheus
      ? { received: null, replayed: null, receiver: null }
      : { received: server.received, replayed: server.replayed, receiver };
    return { ...replicaPage, ...base, ...own, senders, streaming: senders.length };
  }

  #listedName(name: string): string {
    if (this.names === "node") return name;
    return this.names === "receiver" ? "walreceiver" : `pgautofailover_standby_${name.slice(2)}`;
  }

  #receive(server: Server): void {
    if (server.upstream?.isAlive !== true) {
      server.upstream = null;
      return;
    }
    server.received = Math.max(server.received, server.upstream.received);
    if (this.#chance() < 0.9) server.replayed = server.received;
  }

  #heal(): void {
    for (const server of this.servers) {
      server.fault = "none";
      if (server !== this.primary || !server.isAlive) continue;
      for (const other of this.servers) if (other !== server) this.#follow(other);
    }
    if (!this.primary.isAlive && this.#promoteAtS === Infinity) this.#promote();
  }

  /** A server becomes a standby of the primary, rewound if it has WAL of its own. */
  #follow(server: Server): void {
    server.isAlive = true;
    server.isStandby = true;
    server.received = Math.min(server.received, this.primary.received);
    server.replayed = Math.min(server.replayed, server.received);
    server.upstream = this.primary;
  }

  #disturb(atS: number): void {
    const server = this.#pick(this.servers);
    const kind = this.#chance();
    if (kind < 0.06) {
      server.fault = this.#pick<ExporterFault>(["none", "none", "dead", "half", "stale", "page hangs"]);
      const keys: (keyof ExporterPage)[] = Object.keys(lackable).map((key) => key as keyof ExporterPage);
      server.lacking = new Set(keys.filter(() => this.#chance() < 0.4));
    } else if (kind < 0.075 && server === this.primary && server.isAlive) {
      server.isAlive = false;
      this.#promoteAtS = atS + 2 + Math.floor(this.#chance() * 15);
    } else if (kind < 0.085 && server !== this.primary && server.isAlive) {
      server.upstream = null;
    } else if (kind < 0.1 && server !== this.primary && this.primary.isAlive) {
      // An old primary may come back as one, before somebody makes it a standby.
      if (!server.isAlive && this.#chance() < 0.3) server.isAlive = true;
      else this.#follow(server);
    }
  }

  #promote(): void {
    this.#promoteAtS = Infinity;
    const candidates = this.servers.filter((server) => server.isAlive && server.isStandby);
    const [best] = candidates.toSorted((one, other) => other.received - one.received);
    if (best === undefined) return;
    best.isStandby = false;
    best.upstream = null;
    this.primary = best;
    for (const other of candidates) if (other !== best && this.#chance() < 0.8) this.#follow(other);
  }

  #pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.#chance() * items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }
}
