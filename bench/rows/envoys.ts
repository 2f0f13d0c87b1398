/** How fast a change reaches many Envoys, and what their streams cost. */
import { ChildProgram } from "../child-program.ts";
import { freePort } from "../../test/fake/free-port.ts";
import { childFile, serveNodes } from "../nodes.ts";
import { pause, Rolecall } from "../rolecall.ts";
import type { RowMaker } from "../row.ts";
import { quantile, show } from "../statistics.ts";

const streams = 500;
/** Ten pools each. */
const clusters = 100;
const changesPerRound = 10;
/** The longest time in which a change reaches all, in ms. */
const reachedMax = 100;
/** The cut of an endpoint with a hard no is a change of its own: it is over before the next one. */
const restMs = 2_500;

/** 500 streams that subscribe to 1,000 pools, and one that never reads, while a node is drained and undrained. */
export const changesForEnvoys: RowMaker = {
  name: "envoys",
  async run({ count }) {
    const nodes = await serveNodes({ by: "constant", clusters, nodes: 3, connections: "keep" });
    const port = await freePort();
    const pools = Array.from({ length: clusters * 10 }, (_, at) => ({
      name: `pool-${at}`,
      cluster: `c${at % clusters}`,
      check: at < clusters * 5 ? "/primary" : "/replica",
    }));
    const named = nodes.clusters.map((members, cluster) => ({
      name: `c${cluster}`,
      nodes: members.map(({ name, url }, at) => ({ name, api: url, database: `10.0.0.${at + 1}:5432` })),
    }));
    const rolecall = await Rolecall.start(
      nodes.clusters,
      { clusters: named, pools },
      { listeners: [{ port, dialect: "xds" }] },
    );
    try {
      await pause(3_000);
      const before = rolecall.process.residentMb();
      const clients = await ChildProgram.start({
        command: [
          process.execPath,
          childFile("xds-streams"),
          ...[port, rolecall.adminPort, streams, pools.length].map(String),
        ],
        core: "load",
        readyMs: 60_000,
      });
      const waits: number[] = [];
      const worst: number[] = [];
      for (let change = 0; change < count * changesPerRound; change += 1) {
        const answer: unknown = JSON.parse(await clients.request("change"));
        const each = Array.isArray(answer) ? answer.map(Number) : [];
        waits.push(...each);
        worst.push(Math.max(...each));
        await pause(restMs);
      }
      const memory = ((rolecall.process.residentMb() - before) * 1_024) / streams;
      const detail = `p50 ${show(quantile(waits, 0.5))} ms; until the last stream has it: median ${show(quantile(worst, 0.5))}, worst ${show(Math.max(...worst))} ms, ${worst.length} changes`;
      const what = `${streams} streams that subscribe to ${show(pools.length)} pools, beside one that never reads`;
      return [
        {
          name: `p99 in ms from a change to ${what}`,
          figure: quantile(waits, 0.99),
          bound: { atMost: reachedMax },
          detail,
        },
        {
          name: `resident memory of each stream in KB, ${what}`,
          figure: memory,
          bound: null,
          detail: `${show(before)} MB without streams`,
        },
      ];
    } finally {
      await rolecall.stop();
      await nodes.stop();
    }
  },
};
