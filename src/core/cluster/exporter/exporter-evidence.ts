import type { ExporterPage, ExporterUp } from "./exporter-report.ts";
import type { Failure } from "../values/failure.ts";

/** What is known of a node through its exporter: a second source, in addition to its node API, or the only one. */
export interface ExporterEvidence {
  /**
   * The last answer of `/up`; `null` while there is none. The exporter may have cached it: it stays the same while the
   * database is frozen.
   */
  readonly up: ExporterUp | null;
  /** The last page of metrics; `null` while there is none. */
  readonly page: ExporterPage | null;
  /** When the last page was requested, in ms of rolecall's clock; -Infinity while there is none. */
  readonly pageSentAtMs: number;
  /** Whether the database's time in the last page is past that in the page before; `null` if unknown. */
  readonly hasAdvanced: boolean | null;
  /**
   * When the newest page that proves the database alive was requested; -Infinity while there is none. A page proves
   * this if the database's time in it advanced, or if its exporter (postgres_exporter) queries the database for every
   * page.
   */
  readonly provenAtMs: number;
  /** What clients wait for while nothing reaches the disk; `null` if they do not, or nothing tells. */
  readonly diskWait: DiskWait | null;
  /** Why the last request for `/up` failed. */
  readonly upFailure: Failure | null;
  /** Why the last request for a page failed. */
  readonly pageFailure: Failure | null;
}

/**
 * Pages of a primary in a row on each of which sessions of clients wait for the disk while nothing has reached it.
 *
 * - `wal`: they wait for WAL to be written, and its position is the same
 * - `files`: they wait for data files to be extended, and the size of the databases is the same too
 * - `unflushed`: they wait for I/O or an internal lock, of whatever kind, and WAL in memory is not on the disk
 */
export interface DiskWait {
  readonly kind: "wal" | "files" | "unflushed";
  /** When the first of these pages was requested, in ms of rolecall's clock. */
  readonly sinceMs: number;
  readonly pages: number;
  /** The sessions that wait on the last of them. */
  readonly sessions: number;
  /** The position that stands still, in bytes of WAL. */
  readonly position: number;
  /** How much WAL is in memory and not on the disk, in bytes; 0 if unknown. */
  readonly unflushedBytes: number;
}

/** The evidence from an exporter before its first probe. */
export const noExporterEvidence: ExporterEvidence = {
  up: null,
  page: null,
  pageSentAtMs: -Infinity,
  hasAdvanced: null,
  provenAtMs: -Infinity,
  diskWait: null,
  upFailure: null,
  pageFailure: null,
};
