/** One switchover under load, and what it must fulfil. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { until } from "../../test/fake/until.ts";
import type { PatroniNode } from "../../test/real/lab/patroni.ts";
import type { Lab, Route } from "./lab.ts";
import type { Failure } from "./ledger.ts";
import type { Load } from "./load.ts";
import { PromotionObserver } from "./observer.ts";
import { runSwitchover, type RunDocument, type Shares, sharesOf } from "./run-document.ts";
import { staleWrites, worstWait } from "./waits.ts";

/**
 * What a client may wait beyond the demotion, in ms. Where HAProxy's checks alone lead to the new primary, rolecall
 * waits for two of them, or 1 s.
 */
const beyondDemotionMs = { file: 300, push: 300, checks: 1_300, envoy: 300 };

export interface RoundResult {
  readonly leader: string;
  readonly candidate: string;
  readonly transactions: number;
  readonly failures: readonly Failure[];
  /** Writes that the old primary took although the new one had taken some. */
  readonly stale: number;
  readonly worstWaitMs: number;
  /** From the request until PostgreSQL left recovery; `null`: not seen. */
  readonly demotionMs: number | null;
  readonly forecastMs: number | null;
  readonly shares: Shares | null;
  /** The longest that this process itself stood still: what it measures is late by up to that. */
  readonly stallMs: number;
  readonly outcome: RunDocument["outcome"];
}

export interface RoundOptions {
  /** Transactions that are acknowledged before the request, by all clients. */
  readonly transactions: number;
  /** Makes the switchover and returns its document. */
  readonly switchOver?: (leader: PatroniNode, candidate: PatroniNode) => Promise<RunDocument>;
}

/** Waits until the cluster is ready and the load has gone on for a while; then switches over to a replica. */
export async function playRound(
  lab: Lab,
  load: Load,
  candidate: PatroniNode,
  { transactions, switchOver = (_, node) => seamless(lab, node) }: RoundOptions,
): Promise<RoundResult> {
  const leader = await lab.settled();
  load.mark();
  await until(
    { what: `${transactions} transactions`, seconds: 120 },
    () => load.window.acknowledged.length >= transactions,
  );
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  const observer = new PromotionObserver(candidate.databasePort);
  const run = await switchOver(leader, candidate);
  const before = load.counts;
  await until({ what: "transactions of every client after the switchover", seconds: 60 }, () =>
    load.counts.every((count, at) => count >= (before[at] ?? 0) + 3),
  );
  delays.disable();
  const writableAt = await observer.stop();
  const window = load.mark();
  const requested = run.steps.find(({ step }) => step === "requested")?.after_ms;
  return {
    leader: leader.name,
    candidate: candidate.name,
    transactions: window.acknowledged.length,
    failures: window.failures,
    stale: staleWrites(window.acknowledged, candidate.databasePort).length,
    worstWaitMs: worstWait(window).waitMs,
    demotionMs:
      writableAt === null || requested === undefined ? null : writableAt - Date.parse(run.started_at) - requested,
    forecastMs: run.forecast_ms,
    shares: sharesOf(run),
    stallMs: delays.max / 1e6,
    outcome: run.outcome,
  };
}

/** What is wrong with a round; empty: nothing. */
export function faultsOf(round: RoundResult, route: Route): readonly string[] {
  const { outcome, candidate, failures, stale, worstWaitMs, demotionMs } = round;
  const faults: string[] = [];
  if (outcome?.kind !== "switched" || outcome.node !== candidate)
    faults.push(`the outcome must be a switchover to ${candidate}, got ${JSON.stringify(outcome)}`);
  for (const { client, error } of failures) faults.push(`client ${client} had an error: ${error}`);
  if (stale > 0) faults.push(`${stale} writes were taken by the old primary after the new one took some`);
  if (demotionMs === null) faults.push("the instant at which PostgreSQL left recovery was not seen");
  else if (worstWaitMs > demotionMs + beyondDemotionMs[route])
    faults.push(
      `no client must wait longer than ${Math.round(demotionMs)} + ${beyondDemotionMs[route]} ms, got ${Math.round(worstWaitMs)} ms`,
    );
  return faults;
}

function seamless(lab: Lab, candidate: PatroniNode): Promise<RunDocument> {
  return runSwitchover(lab.api, { candidate: candidate.name, unguarded: true });
}
