/** What a probe leaves to the garbage collector. */
import { childFile, serveNodes, type NodeOptions } from "../nodes.ts";
import { pathToFileURL } from "node:url";
import { pause, Rolecall } from "../rolecall.ts";
import type { Row, RowMaker } from "../row.ts";
import { quantile, show } from "../statistics.ts";
import type { Collected } from "../children/collections.ts";

const nodes = 1_000;
const nodesPerCluster = 5;
/** V8 compiles what runs often, which allocates less. Some seconds of start and compiling are not measured. */
const warmMs = 8_000;
const measuredMs = 8_000;
/** The longest that the collector may stop the probes, and without a worker checks, at p99, in ms. */
const pauseMsMax = 2;

/** What differs between two answers of a node. */
const kinds: readonly { readonly probe: string; readonly motion: NonNullable<NodeOptions["motion"]> }[] = [
  { probe: "an unchanged probe", motion: "still" },
  { probe: "a moved probe", motion: "moving" },
  { probe: "a changed probe", motion: "turning" },
];

/**
 * Bytes that a probe allocates and that survive a scavenge, of 1,000 nodes on kept connections: counted, not timed. And
 * how long the collector stops the process.
 */
export const allocation: RowMaker = {
  name: "allocation",
  async run() {
    const rows: Row[] = [];
    for (const kind of kinds) rows.push(...(await rowsOf(kind)));
    return rows;
  },
};

async function rowsOf({ probe, motion }: (typeof kinds)[number]): Promise<readonly Row[]> {
  const clusters = nodes / nodesPerCluster;
  const served = await serveNodes({ by: "constant", clusters, nodes: nodesPerCluster, connections: "keep", motion });
  const counter = pathToFileURL(childFile("collections")).href;
  const rolecall = await Rolecall.start(
    served.clusters,
    { workers: 0 },
    { env: { NODE_OPTIONS: `--import ${counter}` } },
  );
  try {
    await pause(warmMs);
    await rolecall.process.request("begin");
    const answersBefore = await served.answers();
    await pause(measuredMs);
    const answers = (await served.answers()) - answersBefore;
    const collected = JSON.parse(await rolecall.process.request("end")) as Collected;
    const { allocated, survived, scavenges, pausesMs } = collected;
    const rate = answers / (measuredMs / 1_000);
    if (rate < nodes * 0.95)
      throw new Error(`Cannot count bytes: ${show(nodes)} nodes must answer every second, got ${show(rate)} answers/s`);
    const detail = `${show(scavenges)} scavenges in ${show(measuredMs / 1_000)} s, ${show(rate)} answers/s, documents included`;
    return [
      { name: `bytes that ${probe} allocates`, figure: allocated / answers, bound: null, detail },
      { name: `bytes of ${probe} that survive a scavenge`, figure: survived / answers, bound: null, detail },
      {
        name: `p99 of the collector's pauses in ms beside 1,000 nodes, each with ${probe} a second`,
        figure: quantile(pausesMs, 0.99),
        bound: { atMost: pauseMsMax },
        detail: `p50 ${show(quantile(pausesMs, 0.5))}, longest ${show(Math.max(...pausesMs))} of ${pausesMs.length}`,
      },
    ];
  } finally {
    await rolecall.stop();
    await served.stop();
  }
}
