import { median, show } from "../figure.ts";
import { childFile, serveNodes } from "../nodes.ts";
import { pause, Rolecall } from "../rolecall.ts";
import { interleave, type Row, type RowMaker, type Rounds } from "../row.ts";
import { Started } from "../started.ts";

/** Processor time of one asking, against what undici alone spends on one of the same nodes. */
export const costOfProbes: RowMaker = {
  word: "probes",
  async run(rounds) {
    const rows: Row[] = [];
    for (const connections of ["keep", "close"] as const) {
      const { ours, bare, shareOfCore } = await compare({ clusters: 200, nodes: 5, connections }, rounds);
      rows.push({
        name: `CPU of a probe, times undici's own: nodes that ${connections === "keep" ? "keep" : "close"} connections`,
        figure: ours / bare,
        bound: { atMost: 1.5 },
        detail: `${show(ours)} against ${show(bare)} microseconds at 1,000 nodes/s; all probing ${show(shareOfCore)} % of a core`,
      });
    }
    return rows;
  },
};

interface Comparison {
  /** Processor time of one asking, in microseconds. */
  readonly ours: number;
  readonly bare: number;
  /** What all of our probing takes, in percent of one core. */
  readonly shareOfCore: number;
}

async function compare(
  kind: { readonly clusters: number; readonly nodes: number; readonly connections: "keep" | "close" },
  rounds: Rounds,
): Promise<Comparison> {
  const nodes = await serveNodes({ by: "constant", motion: "moving", ...kind });
  const rolecall = await Rolecall.start(nodes.clusters);
  const bare = await Started.start({ command: [process.execPath, childFile("bare-undici")], core: "measured" });
  bare.tell(JSON.stringify(nodes.clusters.flat().map(({ url }) => url)));
  try {
    await pause(4_000); // both warm up
    const count = async (): Promise<number> => Number(await bare.ask("count"));
    const [costs = []] = await interleave({ count: rounds.count, seconds: rounds.seconds }, [
      async (seconds) => {
        const before = [await rolecall.askings(), rolecall.process.cpuMs(), await count(), bare.cpuMs()] as const;
        await pause(seconds * 1_000);
        const [ours, bares] = [rolecall.process.cpuMs() - before[1], bare.cpuMs() - before[3]];
        const asked = (await rolecall.askings()) - before[0];
        return { ours: (ours / asked) * 1_000, bare: (bares / ((await count()) - before[2])) * 1_000, shareOfCore: ours / seconds / 10 };
      },
    ]);
    const middle = (key: keyof Comparison): number => median(costs.map((cost) => cost[key]));
    return { ours: middle("ours"), bare: middle("bare"), shareOfCore: middle("shareOfCore") };
  } finally {
    await rolecall.stop();
    await bare.stop();
    await nodes.stop();
  }
}
