import { median, show } from "../figure.ts";
import { childFile, serveNodes, type Kind } from "../nodes.ts";
import { pause, Rolecall } from "../rolecall.ts";
import type { Row, RowMaker, Rounds } from "../row.ts";
import { Started } from "../started.ts";

/**
 * Processor time of one asking, against what undici alone spends on one of the same nodes: by `request`, its everyday call, which the bound
 * is about, and by `dispatch`, its leanest, which shows how much of it is our own.
 */
export const costOfProbes: RowMaker = {
  word: "probes",
  async run(rounds) {
    const rows: Row[] = [];
    for (const connections of ["keep", "close"] as const) {
      const { ours, request, dispatch, shareOfCore } = await compare({ clusters: 200, nodes: 5, connections }, rounds);
      const name = (call: string): string =>
        `CPU of a probe, times undici's ${call}: nodes that ${connections} connections`;
      const detail = (bare: number): string =>
        `${show(ours)} against ${show(bare)} microseconds at 1,000 nodes/s; all probing ${show(shareOfCore)} % of a core`;
      rows.push(
        { name: name("request"), figure: ours / request, bound: { atMost: 1.5 }, detail: detail(request) },
        { name: name("dispatch"), figure: ours / dispatch, bound: null, detail: detail(dispatch) },
        {
          name: `percent of a core to probe 1,000 nodes a second: nodes that ${connections} connections`,
          figure: shareOfCore,
          bound: { atMost: connections === "keep" ? 15 : 33 },
          detail: "documents and heartbeats included",
        },
      );
    }
    return rows;
  },
};

/** Processor time of one asking, in microseconds. */
interface Costs {
  readonly ours: number;
  readonly request: number;
  readonly dispatch: number;
  /** What all of our probing takes, in percent of one core. */
  readonly shareOfCore: number;
}

/** All three ask the same nodes on the same core at the same time, so that whatever slows one slows the others. */
async function compare(kind: Pick<Kind, "clusters" | "nodes" | "connections">, rounds: Rounds): Promise<Costs> {
  const nodes = await serveNodes({ by: "constant", motion: "moving", ...kind });
  const rolecall = await Rolecall.start(nodes.clusters);
  const apis = JSON.stringify(nodes.clusters.flat().map(({ url }) => url));
  const request = await startBare("request", apis);
  const dispatch = await startBare("dispatch", apis);
  try {
    await pause(5_000); // all warm up
    const costs: Costs[] = [];
    for (let round = 0; round < rounds.count; round += 1) {
      const began = performance.now();
      const ends = [
        await begin(rolecall.process, () => rolecall.askings()),
        await begin(request, countOf),
        await begin(dispatch, countOf),
      ] as const;
      await pause(rounds.seconds * 1_000);
      const [ours, byRequest, byDispatch] = [await ends[0](), await ends[1](), await ends[2]()];
      const tookMs = performance.now() - began;
      costs.push({
        ours: ours.perAsking,
        request: byRequest.perAsking,
        dispatch: byDispatch.perAsking,
        shareOfCore: (ours.cpuMs / tookMs) * 100,
      });
    }
    const middle = (key: keyof Costs): number => median(costs.map((cost) => cost[key]));
    return {
      ours: middle("ours"),
      request: middle("request"),
      dispatch: middle("dispatch"),
      shareOfCore: middle("shareOfCore"),
    };
  } finally {
    await Promise.all([rolecall.stop(), request.stop(), dispatch.stop()]);
    await nodes.stop();
  }
}

async function startBare(call: "request" | "dispatch", apis: string): Promise<Started> {
  const bare = await Started.start({ command: [process.execPath, childFile("bare-undici"), call], core: "measured" });
  bare.tell(apis);
  return bare;
}

async function countOf(bare: Started): Promise<number> {
  return Number(await bare.ask("count"));
}

/** Begins to count; what it returns tells the processor time since then, in all (ms) and per asking (microseconds). */
async function begin(
  process: Started,
  count: (process: Started) => Promise<number>,
): Promise<() => Promise<{ readonly cpuMs: number; readonly perAsking: number }>> {
  const asked = await count(process);
  const cpuMs = process.cpuMs();
  return async () => {
    const spent = process.cpuMs() - cpuMs;
    return { cpuMs: spent, perAsking: (spent / ((await count(process)) - asked)) * 1_000 };
  };
}
