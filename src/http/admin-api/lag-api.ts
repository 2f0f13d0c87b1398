import { parseDuration } from "../../cluster/values/duration.ts";
import type { PageReadingContext } from "../diagnostics/diagnostics-sources.ts";
import type { LagSeries } from "../live/recent-lag.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import { badRequest, jsonReply, type Reply, unknownParameter } from "../message/reply.ts";
import { servePage } from "../pages/page.ts";
import type { PageGate } from "../pages/page-gate.ts";

/** What the lag of a cluster is answered from. */
export interface LagApiContext {
  /** The last 15 minutes, from memory. */
  readonly recent: (cluster: string) => LagSeries;
  /** Any time, from the history on disk and from memory. */
  readonly since: (wanted: WantedLag, reading: PageReadingContext) => Promise<object>;
  /** Whether a history is kept on disk. */
  readonly hasHistory: () => boolean;
  /** Milliseconds since the epoch. */
  readonly wall: () => number;
  readonly gate: PageGate;
}

/** A cluster and a range of time, in ms since the epoch. */
export interface WantedLag {
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
  call: IncomingCall,
  { cluster, query }: { readonly cluster: string; readonly query: string },
  { recent, since, hasHistory, wall, gate }: LagApiContext,
): Promise<Reply | null> {
  const params = new URLSearchParams(query);
  const unknown = unknownParameter(params, ["since"]);
  if (unknown !== null) return badRequest(unknown);
  const text = params.get("since");
  const history = hasHistory();
  const reply = (found: object): Reply =>
    jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ cluster, history, ...found }));
  if (text === null) return reply(recent(cluster));
  const sinceMs = parseDuration(text) ?? 0;
  if (sinceMs < sinceMinMs || sinceMs > sinceMaxMs)
    return badRequest({ subject: "parameter since", value: text, allowed: "a duration from 1min to 366d, such as 6h" });
  const toMs = wall();
  const render = async (reading: PageReadingContext): Promise<Reply> =>
    reply(await since({ cluster, fromMs: toMs - sinceMs, toMs }, reading));
  return servePage({ gate, name: "lag", render }, call);
}
