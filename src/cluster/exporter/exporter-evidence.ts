import type { ExporterPage, ExporterUp } from "./exporter-report.ts";
import type { Failure } from "../values/failure.ts";

/** What is known of a node through its exporter: a second witness beside its node API, or the only one. */
export interface ExporterEvidence {
  /** The last word of `/up`; `null` while there is none. A word may be old at its source: a frozen database keeps it. */
  readonly up: ExporterUp | null;
  /** The last page of metrics; `null` while there is none. */
  readonly page: ExporterPage | null;
  /** When the last page was asked for, in ms of our clock; -Infinity while there is none. */
  readonly pageSentAtMs: number;
  /** Whether the last page's own database time is past that of the page before; `null` where that cannot be told. */
  readonly hasAdvanced: boolean | null;
  /**
   * When the last page was asked for that proves the database at work: its own time had advanced, or its exporter (postgres_exporter)
   * asks the database for every page anew. -Infinity while none does.
   */
  readonly provenAtMs: number;
  /** Why the last asking for the word brought none. */
  readonly upFailure: Failure | null;
  /** Why the last asking for a page brought none. */
  readonly pageFailure: Failure | null;
}

/** An exporter nobody has asked yet. */
export const noEvidence: ExporterEvidence = {
  up: null,
  page: null,
  pageSentAtMs: -Infinity,
  hasAdvanced: null,
  provenAtMs: -Infinity,
  upFailure: null,
  pageFailure: null,
};
