import type { DiskWait, ExporterEvidence } from "../../cluster/exporter/exporter-evidence.ts";
import type { ExporterPage } from "../../cluster/exporter/exporter-report.ts";

/** A page of a primary's exporter, and what else was known when it came. */
export interface PageSeen {
  readonly page: ExporterPage;
  /** When it was requested, in ms of rolecall's clock. */
  readonly sentAtMs: number;
  /** The position in the node's last report, where the page has none. */
  readonly reported: number | null;
}

/**
 * Whether sessions wait for the disk on this page while nothing has reached it since the page before. Pure.
 * @param known the evidence up to the page before
 * @returns `null` if none do, or what they wait for is not known
 */
export function nextDiskWait(
  { diskWait, page: before }: Pick<ExporterEvidence, "diskWait" | "page">,
  { page, sentAtMs, reported }: PageSeen,
): DiskWait | null {
  const { inserted, flushed, databaseBytes } = page.disk;
  const position = flushed ?? page.written ?? reported;
  if (page.isInRecovery !== false || position === null) return null;
  const waiting = waitsOf(page);
  if (waiting === null) return null;
  const unflushedBytes = inserted === null || flushed === null ? 0 : Math.max(0, inserted - flushed);
  const isSame =
    diskWait !== null &&
    diskWait.position === position &&
    (waiting.kind !== "files" || before?.disk.databaseBytes === databaseBytes);
  const { sinceMs, pages } = isSame ? diskWait : { sinceMs: sentAtMs, pages: 0 };
  return { ...waiting, sinceMs, pages: pages + 1, position, unflushedBytes };
}

function waitsOf({ disk }: ExporterPage): Pick<DiskWait, "kind" | "sessions"> | null {
  const { walWaits, fileWaits, otherWaits, databaseBytes, inserted, flushed } = disk;
  if (walWaits !== null && walWaits > 0) return { kind: "wal", sessions: walWaits };
  // A table that is not logged is loaded without WAL. The databases grow meanwhile.
  if (fileWaits !== null && fileWaits > 0 && databaseBytes !== null) return { kind: "files", sessions: fileWaits };
  const isUnflushed = inserted !== null && flushed !== null && inserted > flushed;
  return isUnflushed && otherWaits !== null && otherWaits > 0 ? { kind: "unflushed", sessions: otherWaits } : null;
}
