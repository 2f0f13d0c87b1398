/**
 * The promise about reads: none that HAProxy routed by rolecall's yes is staler than `lag_time` plus the bound. Reads
 * from a time when rolecall may have known no leader are counted apart.
 */
import { eventsOf, type HistoryEvent, type ReadEvent, type RecoveryEvent, type WriteEvent } from "../history.ts";
import { bounds } from "./bounds.ts";
import type { FindingsBook } from "./findings.ts";
import { isByRolecall, type Routes } from "./routes.ts";
import { UnledSpans } from "./unled.ts";

const unledNote = ", while it may have known no leader";

/** Writes that are in the database at the end: a failover may lose what was acknowledged before, which is counted. */
export function checkReads(
  history: readonly HistoryEvent[],
  { routes, slackMs, book }: { readonly routes: Routes; readonly slackMs: number; readonly book: FindingsBook },
): void {
  const acknowledged = eventsOf(history, "write").filter(({ outcome }) => outcome === "acknowledged");
  const { survivors = null } = eventsOf(history, "recovery").at(-1) ?? {};
  const surviving = acknowledged.filter(isIn(survivors));
  if (survivors !== null) book.count("acknowledged writes that failovers lost", acknowledged.length - surviving.length);
  const unled = new UnledSpans(history, routes, slackMs);
  for (const read of eventsOf(history, "read")) {
    const group = groupOf(read, routes);
    book.count(`${group}: ${read.seen === null ? "failed" : "answered"}`);
    if (group !== "reads by rolecall's yes" || read.seen === null) continue;
    const oldest = oldestUnseen(surviving, read);
    if (oldest === undefined) continue;
    const stalenessMs = read.beganAtMs - oldest.endedAtMs;
    const isUnled = unled.mayExplain(read);
    book.atMost(`staleness of a read by rolecall's yes${isUnled ? unledNote : ""}`, stalenessMs);
    if (stalenessMs <= bounds.readMs + slackMs) continue;
    if (isUnled) {
      book.count(`${group}: staler than the bound${unledNote}`);
      continue;
    }
    book.violate(
      "read",
      `a read at ${read.node} did not see ${oldest.writer}/${oldest.seq}, acknowledged ${Math.round(stalenessMs)} ms ` +
        `before it (bound ${bounds.readMs} ms, slack ${Math.round(slackMs)} ms)`,
    );
  }
}

function isIn(survivors: RecoveryEvent["survivors"]): (write: WriteEvent) => boolean {
  const sets = new Map(Object.entries(survivors ?? {}).map(([writer, seqs]) => [writer, new Set(seqs)]));
  return ({ writer, seq }) => sets.get(writer)?.has(seq) ?? false;
}

/** The write that a read should have seen for the longest time. */
function oldestUnseen(writes: readonly WriteEvent[], { beganAtMs, seen }: ReadEvent): WriteEvent | undefined {
  let oldest: WriteEvent | undefined;
  for (const write of writes)
    if (write.endedAtMs < beganAtMs && write.seq > (seen?.[write.writer] ?? 0))
      if (oldest === undefined || write.endedAtMs < oldest.endedAtMs) oldest = write;
  return oldest;
}

function groupOf(read: ReadEvent, routes: Routes): string {
  const route = routes.of(read);
  if (route === undefined) return "reads that HAProxy did not log";
  return isByRolecall(route.pool) ? "reads by rolecall's yes" : "reads by the fallback";
}
