/** Holds a history to all promises. Pure. */
import { eventsOf, type HistoryEvent } from "../history.ts";
import { bounds } from "./bounds.ts";
import { type Findings, FindingsBook } from "./findings.ts";
import { checkFloors } from "./floors.ts";
import { checkReads } from "./reads.ts";
import { checkRecovery } from "./recovery.ts";
import { Routes } from "./routes.ts";
import { checkWrites } from "./writes.ts";

export interface Result extends Findings {
  /** `void`: the machine itself stalled, so nothing that was found counts. */
  readonly verdict: "passed" | "violated" | "void";
}

/** Checks the history of one run. */
export function check(history: readonly HistoryEvent[]): Result {
  const book = new FindingsBook();
  const slackMs = Math.max(0, ...eventsOf(history, "stall").map(({ forMs }) => forMs));
  const context = { routes: new Routes(history), slackMs, book };
  checkWrites(history, context);
  checkReads(history, context);
  checkFloors(history, context);
  checkRecovery(history, context);
  book.atMost("stall of the machine", slackMs);
  for (const { kind, notRun } of eventsOf(history, "fault"))
    book.count(notRun === null ? `fault ${kind}` : `fault not run: ${kind}`);
  const { findings } = book;
  const broken = findings.violations.length > 0 ? "violated" : "passed";
  return { ...findings, verdict: slackMs > bounds.voidStallMs ? "void" : broken };
}
