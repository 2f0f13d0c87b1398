/** The promise about `min_lsn`: a session reads its own writes, and never reads backwards. */
import { eventsOf, type HistoryEvent } from "../history.ts";
import { bounds } from "./bounds.ts";
import type { FindingsBook } from "./findings.ts";

export function checkFloors(history: readonly HistoryEvent[], { book }: { readonly book: FindingsBook }): void {
  book.count("checks with min_lsn: refused", eventsOf(history, "floor-refused").length);
  for (const read of eventsOf(history, "floor-read")) {
    const { seen, owed } = read;
    book.count(`reads with min_lsn: ${seen === null ? "failed" : "answered"}`);
    if (seen === null) continue;
    const missed = Object.entries(owed).filter(([writer, newest]) => (seen[writer] ?? 0) < newest);
    if (missed.length === 0) continue;
    const spentMs = read.endedAtMs - read.beganAtMs;
    if (read.upForMs !== null && read.upForMs < bounds.restartMs + spentMs) {
      book.count("reads with min_lsn: behind, after a restart of the database within max_age");
      continue;
    }
    const list = missed.map(([writer, newest]) => `${writer}/${newest} (saw ${seen[writer] ?? 0})`).join(", ");
    book.violate("min-lsn", `${read.session} read at ${read.node} with min_lsn=${read.floor} and missed ${list}`);
  }
}
