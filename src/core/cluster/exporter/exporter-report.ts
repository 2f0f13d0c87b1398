/** The five status words of an exporter's `/up`. */
export const exporterRoles = ["primary", "replica", "down", "starting", "unknown"] as const;

export type ExporterRole = (typeof exporterRoles)[number];

/** One answer of `GET /up`. */
export interface ExporterUp {
  readonly role: ExporterRole;
  /** When the request was sent, in ms of rolecall's clock. */
  readonly sentAtMs: number;
}

/**
 * One metrics page of a PostgreSQL exporter. `null` is unknown: the series was absent or NaN. Positions in bytes of
 * WAL.
 */
export interface ExporterPage {
  /** Pages of the two families prove a live database in different ways: see `ExporterEvidence.provenAtMs`. */
  readonly family: "pg_exporter" | "postgres_exporter";
  /** The page is about a PgBouncer, which has no role. */
  readonly isPooler: boolean;
  readonly isUp: boolean | null;
  readonly isInRecovery: boolean | null;
  /** The database's own clock, in seconds since the epoch. Only compared with earlier pages of the same database. */
  readonly databaseTimeS: number | null;
  readonly serverVersion: number | null;
  readonly system: string | null;
  /** Outdated for minutes after a promotion: shown, never judged. */
  readonly timeline: number | null;
  /** A primary's position. */
  readonly written: number | null;
  readonly received: number | null;
  readonly replayed: number | null;
  /** The lag that the replica itself reports. It is 0 while disconnected: shown, never judged. */
  readonly lagSeconds: number | null;
  readonly isReplayPaused: boolean | null;
  readonly senders: readonly ExporterSender[];
  /** How many standbys stream from it; `null` if unknown. */
  readonly streaming: number | null;
  /** The server it receives WAL from; `null` if none, or unknown. */
  readonly receiver: ExporterReceiver | null;
  readonly disk: DiskFigures;
  /** How many of the page's samples were read. */
  readonly samples: number;
}

/** What a page says of writes to the disk. `null` is unknown. Positions in bytes of WAL. */
export interface DiskFigures {
  /** Up to which position a primary has WAL in memory, and up to which it is safe on the disk. */
  readonly inserted: number | null;
  readonly flushed: number | null;
  /** The sessions of clients that wait for WAL to be written (postgres_exporter from 0.12 on). */
  readonly walWaits: number | null;
  /** Those that wait for a data file to be extended (postgres_exporter from 0.12 on). */
  readonly fileWaits: number | null;
  /** Those that wait for I/O or for an internal lock, of whatever kind: pg_exporter counts no more than that. */
  readonly otherWaits: number | null;
  /** The size of all databases, in bytes. */
  readonly databaseBytes: number | null;
}

/** The figures of a page that has none. */
export const noDiskFigures: DiskFigures = {
  inserted: null,
  flushed: null,
  walWaits: null,
  fileWaits: null,
  otherWaits: null,
  databaseBytes: null,
};

/** A standby that receives WAL, as listed in its upstream's page. */
export interface ExporterSender {
  readonly name: string;
  readonly address: string | null;
  readonly isStreaming: boolean;
  readonly replayed: number | null;
}

/** The server that a standby receives WAL from. */
export interface ExporterReceiver {
  readonly host: string;
  readonly port: number | null;
  readonly isStreaming: boolean;
}
