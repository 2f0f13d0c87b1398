/** The five words of an exporter's `/up` (seeds/exporter-api.md, "States and transitions"). */
export const exporterRoles = ["primary", "replica", "down", "starting", "unknown"] as const;

export type ExporterRole = (typeof exporterRoles)[number];

/** What one answer of `GET /up` said. */
export interface ExporterUp {
  readonly role: ExporterRole;
  /** When it was asked for, in ms of our clock. */
  readonly sentAtMs: number;
}

/**
 * What one page of metrics said of the database behind it. `null` is unknown: the series was absent or NaN, which is never 0.
 * Positions are bytes of WAL.
 */
export interface ExporterPage {
  /** Who wrote it: their pages prove life in different ways, see {@link ExporterEvidence.provenAtMs}. */
  readonly family: "pg_exporter" | "postgres_exporter";
  /** It speaks of a PgBouncer, whose word on roles means nothing. */
  readonly isPooler: boolean;
  readonly isUp: boolean | null;
  readonly isInRecovery: boolean | null;
  /** The database's own clock, in seconds since 1970. Compared with earlier pages of the same database only. */
  readonly databaseTimeS: number | null;
  readonly serverVersion: number | null;
  readonly system: string | null;
  /** Stale for minutes after a promotion: shown, never judged by. */
  readonly timeline: number | null;
  /** A primary's position. */
  readonly written: number | null;
  readonly received: number | null;
  readonly replayed: number | null;
  /** The replica's own word on its lag. It says 0 while disconnected: shown, never judged by. */
  readonly lagSeconds: number | null;
  readonly isReplayPaused: boolean | null;
  readonly senders: readonly ExporterSender[];
  /** How many standbys stream from it; `null` where the page does not tell. */
  readonly streaming: number | null;
  /** Whom it receives WAL from; `null` while it receives none, or the page does not tell. */
  readonly receiver: ExporterReceiver | null;
  /** How many samples the page had that we asked for. */
  readonly samples: number;
}

/** One standby that receives WAL, as its upstream's page tells. */
export interface ExporterSender {
  readonly name: string;
  readonly address: string | null;
  readonly isStreaming: boolean;
  readonly replayed: number | null;
}

/** Where a standby receives its WAL from. */
export interface ExporterReceiver {
  readonly host: string;
  readonly port: number | null;
  readonly isStreaming: boolean;
}
