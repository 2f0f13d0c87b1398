/** Checks at full speed beside probing, on little of a core: no answer may change because rolecall is busy. */
import { runLoad } from "../load.ts";
import { serveNodes } from "../nodes.ts";
import { canLimit, limitProcessor } from "../processor-share.ts";
import { pause, Rolecall } from "../rolecall.ts";
import type { Row, RowMaker } from "../row.ts";
import { show } from "../statistics.ts";

/** A load under which nothing may change. */
interface Saturation {
  readonly nodes: number;
  readonly connections: number;
  readonly isNew: boolean;
  readonly workers: 0 | 1;
  /** Of one core. */
  readonly share: number;
}

const all: readonly Saturation[] = [1, 0.5, 0.25].flatMap((share) =>
  (share === 0.25 ? [300] : [3, 300, 1_000]).flatMap((nodes) =>
    [64, 2_000].flatMap((connections) =>
      [false, true].flatMap((isNew) =>
        ([0, 1] as const).map((workers) => ({ nodes, connections, isNew, workers, share })),
      ),
    ),
  ),
);

/** Those of CI: what starved the probing most before, and the least share with a worker. */
const guarded: readonly Saturation[] = [
  { nodes: 300, connections: 2_000, isNew: false, workers: 0, share: 0.5 },
  { nodes: 300, connections: 64, isNew: false, workers: 1, share: 0.25 },
];

/** `SATURATED_SECONDS` is how long each load lasts, in place of the rounds' sum. */
export const saturated: RowMaker = {
  name: "saturated",
  run: ({ count, seconds }) => saturateAll(all, Number(process.env["SATURATED_SECONDS"] ?? count * seconds)),
};

/** The same for CI, which has less time. */
export const guardedSaturation: RowMaker = {
  name: "saturated",
  run: ({ count, seconds }) => saturateAll(guarded, 2 * count * seconds),
};

async function saturateAll(loads: readonly Saturation[], seconds: number): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const each of loads) rows.push(await saturate(each, seconds));
  return rows;
}

function nameOf({ nodes, connections, isNew, workers, share }: Saturation): string {
  return `${nodes} nodes, ${connections} ${isNew ? "new" : "kept"} connections, ${workers} workers, ${share} of a core`;
}

async function saturate(saturation: Saturation, seconds: number): Promise<Row> {
  const { nodes, connections, isNew, workers, share } = saturation;
  const name = `answers in a thousand that changed: ${nameOf(saturation)}`;
  if (!canLimit()) return { name, notRun: "this system cannot limit processor time" };
  const clusters = Math.max(1, nodes / 5);
  const served = await serveNodes({
    by: "constant",
    clusters,
    nodes: Math.min(nodes, 5),
    connections: "keep",
    motion: "moving",
  });
  const rolecall = await Rolecall.start(served.clusters, { workers }, { core: "measured" });
  await pause(3_000);
  const limit = limitProcessor(rolecall.process.pids(), share);
  try {
    await pause(3_000);
    await served.gaps();
    const url = rolecall.url("/primary", "pg1", `c${Math.floor(clusters) - 1}`);
    const targets = Array.from({ length: clusters }, (_, at) => ({
      method: "GET" as const,
      path: new URL(rolecall.url("/primary", "pg1", `c${at}`)).pathname,
    }));
    const result = await runLoad({ url, seconds, connections, fatal: "none", ...(isNew ? { isNew } : { targets }) });
    const { count, worstMs } = await served.gaps();
    const changed = result.failures - result.unanswered;
    return {
      name,
      figure: (1_000 * changed) / (result.answersPerSecond * seconds),
      bound: { atMost: 0 },
      detail: `${changed} of ${show(result.answersPerSecond * seconds)} (${result.unanswered} unanswered); ${show(count / seconds / nodes)} probes of a node a second, the longest gap ${show(worstMs)} ms; ${limit.stops()} stops`,
    };
  } finally {
    await rolecall.stop();
    await served.stop();
    limit.end();
  }
}
