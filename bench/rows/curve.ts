/** The cost of a probe, from ten nodes to five thousand. */
import { median, show } from "../statistics.ts";
import { filesMax } from "../machine.ts";
import { serveNodes } from "../nodes.ts";
import { pause, Rolecall } from "../rolecall.ts";
import type { Row, RowMaker } from "../row.ts";

const sizes = [10, 100, 300, 1_000, 3_000, 5_000] as const;
/** A configuration holds at most 256 clusters: fewer nodes in each would leave no room for five thousand. */
const nodesPerCluster = 20;
/** Connections to 5,000 nodes are open, and their code is compiled, after this time. */
const warmMs = 12_000;
/** Rounds of each size, and the length of one: every node is probed twice in it. */
const rounds = 3;
const roundMs = 2_000;
/**
 * How much more a probe may cost than with fewer nodes and still count as flat: the spread of one size from round to
 * round.
 */
const flat = 1.1;

/**
 * Processor time of a probe at each size, with one probe per node and second on a kept connection, and the largest
 * rise.
 */
export const costCurve: RowMaker = {
  name: "curve",
  async run() {
    const name = (size: number): string =>
      `CPU microseconds of a probe, ${show(size)} nodes every second, kept connections`;
    const costs: Cost[] = [];
    const rows: Row[] = [];
    for (const size of sizes) {
      // The process that serves the nodes needs a listener and up to two connections each. It has the same limit as
      // this one.
      const files = size * 3 + 500;
      if (filesMax() < files) {
        rows.push({
          name: name(size),
          notRun: `${show(files)} open files are needed, and ulimit -n allows ${show(filesMax())}`,
        });
        continue;
      }
      const cost = await costAt(size);
      costs.push(cost);
      const detail = `${show(cost.lowest)} to ${show(cost.highest)} in ${rounds} rounds, ${show(cost.probesPerSecond)} probes/s, ${show(cost.shareOfCore)} % of a core`;
      rows.push({ name: name(size), figure: cost.microseconds, bound: null, detail });
    }
    return [...rows, ...riseOf(costs)];
  },
};

interface Cost {
  readonly size: number;
  /** Of one probe, in the median round. */
  readonly microseconds: number;
  readonly lowest: number;
  readonly highest: number;
  readonly probesPerSecond: number;
  readonly shareOfCore: number;
}

async function costAt(size: number): Promise<Cost> {
  const each = Math.min(size, nodesPerCluster);
  const nodes = await serveNodes({
    by: "constant",
    clusters: size / each,
    nodes: each,
    connections: "keep",
    motion: "moving",
  });
  const rolecall = await Rolecall.start(nodes.clusters);
  try {
    await pause(warmMs);
    const costs: { readonly microseconds: number; readonly cpuMs: number; readonly probes: number }[] = [];
    const beganMs = performance.now();
    for (let round = 0; round < rounds; round += 1) {
      const [probesBefore, cpuMsBefore] = [await nodes.answers(), rolecall.process.cpuMs()];
      await pause(roundMs);
      const [probes, cpuMs] = [(await nodes.answers()) - probesBefore, rolecall.process.cpuMs() - cpuMsBefore];
      costs.push({ microseconds: (cpuMs / probes) * 1_000, cpuMs, probes });
    }
    const tookMs = performance.now() - beganMs;
    const sum = (key: "cpuMs" | "probes"): number => costs.reduce((total, cost) => total + cost[key], 0);
    const probesPerSecond = (sum("probes") / tookMs) * 1_000;
    // Each node is probed once a second; documents of its cluster come on top.
    if (probesPerSecond < size * 0.95)
      throw new Error(
        `Cannot measure probes of ${size} nodes: all must answer every second, got ${show(probesPerSecond)} answers/s`,
      );
    const all = costs.map(({ microseconds }) => microseconds);
    const shareOfCore = (sum("cpuMs") / tookMs) * 100;
    return {
      size,
      microseconds: median(all),
      lowest: Math.min(...all),
      highest: Math.max(...all),
      probesPerSecond,
      shareOfCore,
    };
  } finally {
    await rolecall.stop();
    await nodes.stop();
  }
}

/** The largest rise from any size to a larger one; at most 1 if the curve never rises. */
function riseOf(costs: readonly Cost[]): readonly Row[] {
  const name = "CPU of a probe, the most that it rises from any number of nodes to a larger one";
  const rises = costs.flatMap((small, at) =>
    costs.slice(at + 1).map((large) => ({ ratio: large.microseconds / small.microseconds, small, large })),
  );
  const [steepest] = rises.sort((one, other) => other.ratio - one.ratio);
  if (steepest === undefined) return [{ name, notRun: "fewer than two sizes were measured" }];
  const detail = `from ${show(steepest.small.size)} nodes to ${show(steepest.large.size)}; ${costs.map(({ microseconds }) => show(microseconds)).join(", ")} microseconds`;
  return [{ name, figure: steepest.ratio, bound: { atMost: flat }, detail }];
}
