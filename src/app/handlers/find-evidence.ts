import type { EventLog } from "../../events/event-log.ts";
import type { HistoryStore } from "../../history/history-store.ts";
import type { IncidentEvidence, EvidenceRendering, EvidenceTime } from "../../http/diagnostics/diagnostics-sources.ts";

/** Where evidence is kept: the last minutes in memory, all of it on disk, if a history is configured. */
export interface EvidenceSources {
  readonly eventLog: EventLog;
  readonly history: HistoryStore;
}

/** Finds the evidence of a time: in memory, and what is older on disk. */
export async function findEvidence(
  { eventLog, history }: EvidenceSources,
  time: EvidenceTime,
  { turn, signal }: EvidenceRendering,
): Promise<IncidentEvidence> {
  const { cluster, fromWallMs, toWallMs } = time;
  const inMemorySinceMs = eventLog.evidenceSinceMs;
  const recorded = eventLog.recorded(cluster, fromWallMs, toWallMs);
  const accused = eventLog.accused(cluster, recorded[0]?.atWallMs ?? fromWallMs);
  const sinceWallMs = (await history.oldestEvidenceMs()) ?? (inMemorySinceMs === Infinity ? null : inMemorySinceMs);
  if (fromWallMs >= inMemorySinceMs) return { recorded, accused, sinceWallMs, isComplete: true };
  const older = await history.readEvidence(
    {
      cluster,
      fromWallMs,
      toWallMs: Math.min(toWallMs, inMemorySinceMs - 1),
      aroundWallMs: (fromWallMs + toWallMs) / 2,
    },
    { signal, charge: (ms) => turn.charge(ms) },
  );
  const { isComplete } = older;
  if (older.recorded.length === 0) return { recorded, accused, sinceWallMs, isComplete };
  const newer = recorded.filter(({ atWallMs }) => atWallMs >= inMemorySinceMs);
  return { recorded: [...older.recorded, ...newer], accused: older.accused, sinceWallMs, isComplete };
}
