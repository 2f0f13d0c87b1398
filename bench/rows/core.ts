/** The main promises: far more answers than a real node, low latency beside probing, little memory. */
import { median, show } from "../statistics.ts";
import { runLoad, loadProgram, measureLatency } from "../load.ts";
import { serveNodes } from "../nodes.ts";
import { startPatroni } from "../patroni.ts";
import { pause, Rolecall } from "../rolecall.ts";
import { interleave, type Row, type RowMaker } from "../row.ts";
import type { LoadResult } from "../load-result.ts";

/** Answers per second, against those of a real Patroni node on the same route. */
export const againstPatroni: RowMaker = {
  name: "patroni",
  async run(rounds) {
    const name = "answers/s, times a real Patroni node's";
    const node = await startPatroni();
    if ("notRun" in node) return [{ name, ...node }];
    const rolecall = await Rolecall.start([[{ name: "pg1", url: node.api }]]);
    try {
      // Load keeps the real node from answering probes too.
      const loadOurs = async (seconds: number, isNew: boolean): Promise<LoadResult> => {
        await rolecall.answers("/primary", 200);
        return runLoad({ url: rolecall.url("/primary"), seconds, connections: 64, isNew });
      };
      const [ours = [], news = [], theirs = []] = await interleave(rounds, [
        (seconds) => loadOurs(seconds, false),
        (seconds) => loadOurs(seconds, true),
        (seconds) => runLoad({ url: `${node.api}/primary`, seconds, connections: 64, isNew: true, fatal: "statuses" }),
      ]);
      const middle = (all: readonly LoadResult[]): number =>
        median(all.map(({ answersPerSecond }) => answersPerSecond));
      const [kept, fresh, real] = [middle(ours), middle(news), middle(theirs)];
      const how = `by ${loadProgram()}; Patroni closes after each answer`;
      return [
        {
          name: `${name}: kept connections`,
          figure: kept / real,
          bound: { atLeast: 60 },
          detail: `${show(kept)} against ${show(real)} /s ${how}`,
        },
        {
          name: `${name}: new connections`,
          figure: fresh / real,
          bound: null,
          detail: `${show(fresh)} against ${show(real)} /s ${how}`,
        },
      ];
    } finally {
      await rolecall.stop();
      await node.stop();
    }
  },
};

/** The latency at a fixed rate while 300 simulated nodes are probed every second. */
export const latencyBesideProbing: RowMaker = {
  name: "tail",
  async run({ seconds }) {
    const nodes = await serveNodes({ by: "simulated", clusters: 100, nodes: 3, connections: "close" });
    const rolecall = await Rolecall.start(nodes.clusters);
    try {
      const { by, p99, worst, answersPerSecond } = await measureLatency(rolecall.url("/primary"), {
        rate: 10_000,
        seconds: Math.min(8, seconds * 2),
      });
      const detail = `${show(answersPerSecond)} answers/s, worst ${show(worst)} ms`;
      return [{ name: `p99 in ms at 10,000/s, 300 nodes probed (${by})`, figure: p99, bound: { atMost: 5 }, detail }];
    } finally {
      await rolecall.stop();
      await nodes.stop();
    }
  },
};

/** Resident memory after some rounds of probing and answering. */
export const memory: RowMaker = {
  name: "memory",
  async run({ seconds }) {
    const rows: Row[] = [];
    for (const { clusters, each, atMost } of [
      { clusters: 1, each: 3, atMost: 85 },
      { clusters: 200, each: 5, atMost: 256 },
    ]) {
      const nodes = await serveNodes({ by: "constant", clusters, nodes: each, connections: "close", motion: "moving" });
      const rolecall = await Rolecall.start(nodes.clusters);
      try {
        await runLoad({ url: rolecall.url("/primary"), seconds, connections: 64 });
        await pause(seconds * 1_000);
        const figure = rolecall.process.residentMb();
        rows.push({
          name: `resident MB with ${clusters === 1 ? "3" : "1,000"} nodes`,
          figure,
          bound: { atMost },
          detail: `after ${seconds} s of load and ${seconds} s of probing`,
        });
      } finally {
        await rolecall.stop();
        await nodes.stop();
      }
    }
    return rows;
  },
};
