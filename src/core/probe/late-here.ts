/** For how long evidence must come in time again after this process counted as gone, in ms. */
const onTimeMs = 10_000;

/**
 * Whether this process asks nodes in time (rule 16). `withdrawn`: it has been late for a whole ttl, and other programs
 * must not rely on it any more. Instants are in ms of rolecall's clock.
 */
export type OwnLateness =
  | { readonly kind: "on_time" }
  | { readonly kind: "late"; readonly sinceMs: number }
  /** `onTimeSinceMs`: since when evidence has come in time again; `null` while it does not. */
  | { readonly kind: "withdrawn"; readonly sinceMs: number; readonly onTimeSinceMs: number | null };

export const notLate: OwnLateness = { kind: "on_time" };

/**
 * The lateness after a look at the evidence. Pure.
 * @param lateTtlMs the shortest ttl of the clusters whose evidence is late here, in ms; `null` if none is
 */
export function latenessAfter(
  before: OwnLateness,
  { lateTtlMs, nowMs }: { readonly lateTtlMs: number | null; readonly nowMs: number },
): OwnLateness {
  switch (before.kind) {
    case "on_time":
      return lateTtlMs === null ? before : { kind: "late", sinceMs: nowMs };
    case "late": {
      const { sinceMs } = before;
      if (lateTtlMs === null) return notLate;
      return nowMs - sinceMs >= lateTtlMs ? { kind: "withdrawn", sinceMs, onTimeSinceMs: null } : before;
    }
    case "withdrawn": {
      if (lateTtlMs !== null) return { ...before, onTimeSinceMs: null };
      const onTimeSinceMs = before.onTimeSinceMs ?? nowMs;
      return nowMs - onTimeSinceMs >= onTimeMs ? notLate : { ...before, onTimeSinceMs };
    }
  }
}
