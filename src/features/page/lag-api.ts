import { parseDuration } from "../../core/cluster/values/duration.ts";
import { type LagOverTime, LagSteps } from "../../core/events/stored/lag-steps.ts";
import { noPast, type Past } from "../../core/events/stored/past.ts";
import type { FeatureCall } from "../../core/http/admin-api/admin-api.ts";
import type { PageReadingContext } from "../../core/http/diagnostics/diagnostics-sources.ts";
import { badRequest, jsonReply, type Reply, unknownParameter } from "../../core/http/message/reply.ts";
import { servePage } from "../../core/http/pages/page.ts";
import type { LagSeries } from "./recent-lag.ts";

/** Where lag is stored: the last 15 minutes in memory, more on disk if a history is configured. */
export interface LagStores {
  readonly recent: (cluster: string) => LagSeries;
  /** `null`: nothing is on disk. */
  readonly past: Pick<Past, "readLag"> | null;
}

/** A cluster and a range of time, in ms since the epoch. */
interface WantedLag {
  readonly cluster: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** How far back one answer reaches, in ms. */
const sinceMinMs = 60_000;
const sinceMaxMs = 366 * 86_400_000;

/**
 * Answers `/clusters/{cluster}/lag` with the samples in memory, and `?since=6h` with the lag of that time in steps. The
 * latter reads files: such pages are rendered one at a time.
 * @returns `null` if the response is written
 */
export async function answerLag(
  cluster: string,
  { call, query, gate, wall }: Pick<FeatureCall, "call" | "query" | "gate" | "wall">,
  stores: LagStores,
): Promise<Reply | null> {
  const params = new URLSearchParams(query);
  const unknown = unknownParameter(params, ["since"]);
  if (unknown !== null) return badRequest(unknown);
  const text = params.get("since");
  const history = stores.past !== null;
  const reply = (found: object): Reply =>
    jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ cluster, history, ...found }));
  if (text === null) return reply(stores.recent(cluster));
  const sinceMs = parseDuration(text) ?? 0;
  if (sinceMs < sinceMinMs || sinceMs > sinceMaxMs)
    return badRequest({ subject: "parameter since", value: text, allowed: "a duration from 1min to 366d, such as 6h" });
  const toMs = wall();
  const render = async (reading: PageReadingContext): Promise<Reply> =>
    reply(await findLag(stores, { cluster, fromMs: toMs - sinceMs, toMs }, reading));
  return servePage({ gate, name: "lag", render }, call);
}

/** How many steps an answer has at most. */
const stepsMax = 720;
/** The shortest step, in ms: the history has one value a minute. */
const minuteMs = 60_000;

/** The lag of a cluster in a range of time, in the form of the answer. */
interface FoundLag extends LagOverTime {
  readonly step_ms: number;
  /** `false` if lag in that range was left out, because there is too much to read. */
  readonly complete: boolean;
}

/**
 * Finds the lag of a cluster in a range of time, on disk and in memory. Each step has its highest value.
 * `turn` counts the time for which this blocks the event loop; `signal` is aborted when the client leaves.
 */
export async function findLag(
  { recent, past }: LagStores,
  { cluster, fromMs, toMs }: WantedLag,
  { turn, signal }: PageReadingContext,
): Promise<FoundLag> {
  const stepMs = Math.max(1, Math.ceil((toMs - fromMs) / stepsMax / minuteMs)) * minuteMs;
  const steps = new LagSteps({ fromMs, toMs }, stepMs);
  const complete = await (past ?? noPast).readLag(cluster, steps, { signal, charge: (ms) => turn.charge(ms) });
  const { at, nodes } = recent(cluster);
  for (const [index, atMs] of at.entries())
    steps.add(
      atMs,
      Object.entries(nodes).map(([node, lags]) => [node, lags[index] ?? null]),
    );
  return { step_ms: stepMs, complete, ...steps.series };
}
