import type { EventLog } from "../../events/event-log.ts";
import type { HistoryStore } from "../../history/history-store.ts";
import type { IncidentEvidence, PageReadingContext, EvidenceTime } from "../../http/diagnostics/diagnostics-sources.ts";

/** Where evidence is kept: the last minutes in memory, all of it on disk, if a history is configured. */
export interface EvidenceSources {
  readonly eventLog: Pick<EventLog, "evidenceSinceMs" | "recorded" | "accused">;
  readonly history: Pick<HistoryStore, "oldestEvidenceMs" | "readEvidence">;
}

/** Finds the evidence of a time: in memory, and what is older on disk. */
export async function findEvidence(
  { eventLog, history }: EvidenceSources,
  time: EvidenceTime,
  { turn, signal }: PageReadingContext,
): Promise<IncidentEvidence> {
  const { cluster, fromWallMs, toWallMs } = time;
  const inMemorySinceMs = eventLog.evidenceSinceMs;
  const recorded = eventLog.recorded(cluster, fromWallMs, toWallMs);
  // Drains in force come first and may have begun long ago: the accusations of that time no longer hold.
  const first = recorded.find(({ atWallMs }) => atWallMs >= fromWallMs);
  const inMemory = { recorded, accused: eventLog.accused(cluster, first?.atWallMs ?? fromWallMs) };
  const isCovered = fromWallMs >= inMemorySinceMs;
  if (isCovered && recorded.length > 0) return { ...inMemory, sinceWallMs: inMemorySinceMs, isComplete: true };
  const context = { signal, charge: (ms: number) => turn.charge(ms) };
  const oldestMs = Math.min((await history.oldestEvidenceMs(context)) ?? Infinity, inMemorySinceMs);
  const sinceWallMs = oldestMs === Infinity ? null : oldestMs;
  if (isCovered) return { ...inMemory, sinceWallMs, isComplete: true };
  const older = await history.readEvidence(
    {
      cluster,
      fromWallMs,
      toWallMs: Math.min(toWallMs, inMemorySinceMs - 1),
      aroundWallMs: (fromWallMs + toWallMs) / 2,
    },
    context,
  );
  const { isComplete } = older;
  if (older.recorded.length === 0) return { ...inMemory, sinceWallMs, isComplete };
  // Drains in force that began before the evidence in memory are in the older part already.
  const newer = recorded.filter(({ atWallMs }) => atWallMs >= inMemorySinceMs);
  return { recorded: [...older.recorded, ...newer], accused: older.accused, sinceWallMs, isComplete };
}
