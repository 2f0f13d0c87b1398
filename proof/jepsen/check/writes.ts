/**
 * The promise about writes: a write on a new connection that HAProxy routed by rolecall's yes is not acknowledged by a
 * node that lost the lock to another longer ago than the bound.
 */
import { eventsOf, type HistoryEvent, type WriteEvent } from "../history.ts";
import { bounds } from "./bounds.ts";
import type { FindingsBook } from "./findings.ts";
import { LockTimeline } from "./lock-timeline.ts";
import { isByRolecall, type Routes } from "./routes.ts";

/** @param slackMs is added to the bound */
export function checkWrites(
  history: readonly HistoryEvent[],
  { routes, slackMs, book }: { readonly routes: Routes; readonly slackMs: number; readonly book: FindingsBook },
): void {
  const timeline = new LockTimeline(history);
  book.count("grants of the lock to another node", Math.max(0, inRun(timeline) - 1));
  for (const write of eventsOf(history, "write")) {
    const group = groupOf(write, routes);
    book.count(`${group}: ${write.outcome}`);
    if (write.outcome !== "acknowledged" || write.node === null) continue;
    const lostForMs = timeline.lostFor(write.node, write.openedAtMs);
    const holders = timeline.holders(write.openedAtMs - bounds.writeMs - slackMs, write.endedAtMs);
    if (group === "writes by rolecall's yes") book.atMost("write after the lock moved, by rolecall's yes", lostForMs);
    if (holders.has(write.node) || timeline.grants.length === 0) continue;
    if (group !== "writes by rolecall's yes") book.count(`${group}: acknowledged too late`);
    else
      book.violate(
        "write",
        `${write.node} acknowledged ${write.writer}/${write.seq} on a connection opened ${Math.round(lostForMs)} ms ` +
          `after the DCS gave the lock to another (bound ${bounds.writeMs} ms, slack ${Math.round(slackMs)} ms)`,
      );
  }
}

/** How many grants fall into the run: those before it have no tick before them. */
function inRun({ grants }: LockTimeline): number {
  const before = grants.filter(({ earliestMs }) => earliestMs === -Infinity).length;
  return grants.length - Math.max(0, before - 1);
}

function groupOf(write: WriteEvent, routes: Routes): string {
  if (write.balancer === null) return "writes straight to a node";
  if (!write.isNewSession) return "writes on kept sessions";
  const route = routes.of(write);
  if (route === undefined) return "writes that HAProxy did not log";
  return isByRolecall(route.pool) ? "writes by rolecall's yes" : "writes by the fallback";
}
