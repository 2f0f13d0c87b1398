/**
 * The promise about recovery: once the cluster is whole again after the last fault, rolecall and HAProxy use every node
 * of it again. How long clients wait after each fault is measured.
 */
import { eventsOf, type HistoryEvent } from "../history.ts";
import { bounds } from "./bounds.ts";
import type { FindingsBook } from "./findings.ts";

export function checkRecovery(
  history: readonly HistoryEvent[],
  { slackMs, book }: { readonly slackMs: number; readonly book: FindingsBook },
): void {
  measureEachFault(history, book);
  const recovery = eventsOf(history, "recovery").at(-1);
  if (recovery === undefined) return;
  const { healedAtMs, wholeAtMs, fitAtMs, servedAtMs, ended } = recovery;
  for (const name of ended) book.violate("alive", `the instance ${name} of rolecall ended by itself`);
  if (wholeAtMs === null) {
    book.count("clusters that Patroni did not make whole");
    return;
  }
  book.count("clusters that were whole again");
  book.atMost("cluster whole after the last fault", wholeAtMs - healedAtMs);
  const late = [
    { promise: "fit", atMs: fitAtMs, boundMs: bounds.recoveryMs, what: "every node fit in both instances" },
    { promise: "served", atMs: servedAtMs, boundMs: bounds.servedMs, what: "reads and writes through both HAProxy" },
  ] as const;
  for (const { promise, atMs, boundMs, what } of late) {
    const afterMs = atMs === null ? null : Math.max(0, atMs - wholeAtMs);
    if (afterMs !== null) book.atMost(`${what}, after the cluster was whole`, afterMs);
    if (afterMs !== null && afterMs <= boundMs + slackMs) continue;
    const found = afterMs === null ? "never" : `after ${Math.round(afterMs)} ms`;
    book.violate(promise, `${what}: ${found}; the bound after the cluster was whole is ${boundMs} ms`);
  }
}

/** No promise: other faults may go on, and it is Patroni that promotes. */
function measureEachFault(history: readonly HistoryEvent[], book: FindingsBook): void {
  const writes = eventsOf(history, "write").filter(
    ({ balancer, isNewSession, outcome }) => balancer !== null && isNewSession && outcome === "acknowledged",
  );
  for (const { toMs, notRun } of eventsOf(history, "fault")) {
    if (notRun !== null) continue;
    const firstMs = Math.min(
      ...writes.filter(({ openedAtMs }) => openedAtMs >= toMs).map(({ endedAtMs }) => endedAtMs),
    );
    if (firstMs === Infinity) book.count("faults after which no write succeeded in the run");
    else book.atMost("first write through HAProxy after the end of a fault", firstMs - toMs);
  }
}
