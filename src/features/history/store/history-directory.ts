import { existsSync } from "node:fs";
import { join } from "node:path";
import type { StoredEvents, StoredEventsQuery } from "../../../core/events/stored/past.ts";
import type { EvidenceQuery } from "./evidence-scan.ts";
import type { StoredEvidence } from "../../../core/events/stored/past.ts";
import { listSegments, streamNames } from "./files/segment-files.ts";
import type { ReadingLimits } from "./files/segment-reader.ts";
import { HistoryReader } from "./history-reader.ts";

// The history in a directory, read without a running rolecall.

/** Reads events from a directory without a running rolecall. */
export function readStoredEvents(
  directory: string,
  query: StoredEventsQuery,
  onDamaged: ReadingLimits["onDamaged"],
): Promise<StoredEvents> {
  return new HistoryReader(directory, onDamaged).readEvents(query);
}

/** Evidence that is read without a running rolecall: its instants are in ms since the epoch. */
export type StoredEvidenceQuery = Pick<EvidenceQuery, "cluster" | "fromWallMs" | "toWallMs" | "aroundWallMs">;

/** What a directory holds of a time. */
export interface DirectoryEvidence extends StoredEvidence {
  /** When the oldest evidence of the directory was recorded, in ms since the epoch; `null` if there is none. */
  readonly sinceWallMs: number | null;
}

/** Reads the evidence of a cluster and time from a directory without a running rolecall. */
export async function readStoredEvidence(
  directory: string,
  query: StoredEvidenceQuery,
  onDamaged: ReadingLimits["onDamaged"],
): Promise<DirectoryEvidence> {
  const reader = new HistoryReader(directory, onDamaged);
  // No process of the files is this one, and the clock is that of the wall.
  const evidence = await reader.readEvidence({ ...query, run: "", wallOffsetMs: 0 });
  return { ...evidence, sinceWallMs: await reader.oldestEvidenceMs() };
}

/** Finds the clusters of which a directory has evidence between two times, in ms since the epoch, sorted by name. */
export function readStoredClusters(
  directory: string,
  range: Pick<EvidenceQuery, "fromWallMs" | "toWallMs">,
): Promise<readonly string[]> {
  return new HistoryReader(directory, () => {}).readClusters(range);
}

/** Whether a directory has files of a history, or the lock of a process that writes one. */
export async function isHistoryDirectory(directory: string): Promise<boolean> {
  if (existsSync(join(directory, "lock"))) return true;
  const lists = await Promise.all(streamNames.map((stream) => listSegments(directory, stream).catch(() => [])));
  return lists.some((segments) => segments.length > 0);
}
