/** From how many nodes on a worker lowers the latency of checks, which is what `workers: auto` decides by. */
import { countWorkers } from "../../src/core/workers/worker-count.ts";
import { measureLatency } from "../load.ts";
import { serveNodes } from "../nodes.ts";
import { pause, Rolecall } from "../rolecall.ts";
import type { Row, RowMaker } from "../row.ts";
import { median, show } from "../statistics.ts";
import { sweepRate } from "../sweep.ts";
import type { LatencyResult } from "../load-result.ts";

const sizes = [100, 200, 400] as const;
const nodesPerCluster = 5;
const warmMs = 5_000;
/** Promised for the number of workers that `auto` chooses with two processors. */
const p99Max = 2;

/** The latency at 20,000 checks a second beside 100 to 400 nodes, without a worker and with one. */
export const workerThreshold: RowMaker = {
  name: "threshold",
  async run({ count, seconds }) {
    const cases = sizes.flatMap((nodes) => [0, 1].map((workers) => ({ nodes, workers, tails: [] as LatencyResult[] })));
    // Each is started anew for each round: the two numbers of workers alternate, and none runs beside another.
    for (let round = 0; round < count; round += 1)
      for (const each of cases) each.tails.push(await latencyOf(each.nodes, each.workers, seconds));
    return cases.map(({ nodes, workers, tails }): Row => {
      const middle = (key: "p99" | "p999"): number => median(tails.map((tail) => tail[key]));
      return {
        name: `p99 in ms at ${show(sweepRate)}/s, ${nodes} nodes probed, ${workers === 0 ? "no worker" : "one worker"}`,
        figure: middle("p99"),
        bound: countWorkers("auto", nodes, 2) === workers ? { atMost: p99Max } : null,
        detail: `in each round ${tails.map(({ p99 }) => show(p99)).join(", ")}; p99.9 ${show(middle("p999"))} ms by ${tails[0]?.by}`,
      };
    });
  },
};

async function latencyOf(nodes: number, workers: number, seconds: number): Promise<LatencyResult> {
  const clusters = nodes / nodesPerCluster;
  const served = await serveNodes({
    by: "constant",
    clusters,
    nodes: nodesPerCluster,
    connections: "keep",
    motion: "moving",
  });
  try {
    const rolecall = await Rolecall.start(served.clusters, { workers }, { core: "any" });
    try {
      await pause(warmMs);
      return await measureLatency(rolecall.url("/primary"), { rate: sweepRate, seconds });
    } finally {
      await rolecall.stop();
    }
  } finally {
    await served.stop();
  }
}
