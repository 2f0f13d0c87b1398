/** Workers: neither probing nor scrapes add to their latency, and a second worker costs little more. */
import { measure, medianOf, medianRatio, type Measurement } from "../measurement.ts";
import { median, show } from "../statistics.ts";
import { loadProgram } from "../load.ts";
import { serveNodes } from "../nodes.ts";
import { memoryMbOf, ticksOf } from "../process-stats.ts";
import { interleave, type Rounds, type Row, type RowMaker } from "../row.ts";
import { startWithWorkers } from "../workers-fixture.ts";
import { latenciesAgainstNginx, medianLatency, showNginx, sweepRate, sweepRows } from "../sweep.ts";
import { besideScrapes } from "./disturbance.ts";

const connections = 64;
const residentMbMax = 60;
const secondCostMax = 1.15;

/** The latency of one worker at 20,000 checks per second while the main process probes 1,000 nodes every second. */
export const workerBesideSweep: RowMaker = {
  name: "worker-sweep",
  async run(rounds) {
    const rows: Row[] = [];
    for (const kept of ["keep", "close"] as const) {
      const nodes = await serveNodes({ by: "constant", clusters: 200, nodes: 5, connections: kept, motion: "moving" });
      try {
        const fixture = await startWithWorkers(nodes.clusters, 1);
        if ("notRun" in fixture)
          return [{ name: `p99 and p99.9 in ms at ${show(sweepRate)}/s, one worker`, notRun: fixture.notRun }];
        try {
          rows.push(
            ...(await besideSweep(
              fixture.rolecall.url("/primary"),
              rounds,
              `one worker, 1,000 nodes that ${kept} connections probed`,
            )),
          );
        } finally {
          await fixture.rolecall.stop();
        }
      } finally {
        await nodes.stop();
      }
    }
    return rows;
  },
};

/** Measures the worker and, in turn, nginx on its core. */
async function besideSweep(url: string, rounds: Rounds, beside: string): Promise<readonly Row[]> {
  const idle: number[] = [];
  const tails = await latenciesAgainstNginx(url, {
    rounds,
    core: "measured",
    around: async (side, load) => {
      const before = ticksOf(1);
      const found = await load();
      const after = ticksOf(1);
      if (side === "rolecall") idle.push(((after.idle - before.idle) / (after.all - before.all)) * 100);
      return found;
    },
  });
  const more = `; core of the load ${show(median(idle))} % idle; ${showNginx(tails.nginx)}`;
  return sweepRows(medianLatency(tails.rolecall), beside, more);
}

/** The tail latency of one worker at 5,000 checks a second, beside continuous scrapes of the main process. */
export const workerBesideScrapes: RowMaker = {
  name: "worker-scrapes",
  async run(rounds) {
    const nodes = await serveNodes({ by: "constant", clusters: 200, nodes: 5, connections: "keep", motion: "moving" });
    try {
      const fixture = await startWithWorkers(nodes.clusters, 1);
      if ("notRun" in fixture)
        return [{ name: "p99 in ms beside scrapes of /metrics, one worker", notRun: fixture.notRun }];
      try {
        return await besideScrapes(fixture.rolecall, rounds, "1,000 nodes probed, one worker");
      } finally {
        await fixture.rolecall.stop();
      }
    } finally {
      await nodes.stop();
    }
  },
};

/** The cost of an answer over all workers, with two of them against one. Also the memory of each. */
export const twoWorkers: RowMaker = {
  name: "two-workers",
  async run(rounds) {
    const name = "CPU of an answer, two workers' together, times one's";
    const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "close", motion: "moving" });
    const one = await startWithWorkers(nodes.clusters, 1);
    const two = "notRun" in one ? one : await startWithWorkers(nodes.clusters, 2);
    try {
      if ("notRun" in one) return [{ name, notRun: one.notRun }];
      if ("notRun" in two) return [{ name, notRun: two.notRun }];
      const rows: Row[] = [];
      for (const isNew of [false, true]) {
        const [by1 = [], by2 = []] = await interleave(
          rounds,
          [one, two].map(
            ({ rolecall, workers }) =>
              (seconds: number): Promise<Measurement> =>
                measure(workers, { url: rolecall.url("/primary"), seconds, connections, isNew }),
          ),
        );
        rows.push({
          name: `${name}: ${isNew ? "new connections" : "kept connections"}`,
          figure: medianRatio(by2, by1, "microseconds"),
          bound: { atMost: secondCostMax },
          detail: `${show(medianOf(by2).microseconds)} against ${show(medianOf(by1).microseconds)} microseconds at ${show(medianOf(by2).answersPerSecond)} and ${show(medianOf(by1).answersPerSecond)} /s by ${loadProgram()}, all workers on one core`,
        });
      }
      return [...rows, residentOf(two.workers)];
    } finally {
      for (const fixture of [one, two]) if (!("notRun" in fixture)) await fixture.rolecall.stop();
      await nodes.stop();
    }
  },
};

function residentOf(workers: readonly number[]): Row {
  const each = workers.map((pid) => ({ rss: memoryMbOf(pid), pss: memoryMbOf(pid, "Pss") }));
  return {
    name: "resident MB of a worker, the largest of two, 3 nodes",
    figure: Math.max(...each.map(({ rss }) => rss)),
    bound: { atMost: residentMbMax },
    detail: `after the load; ${each.map(({ rss, pss }) => `${show(rss)} (${show(pss)} where shared pages count in part)`).join(", ")}`,
  };
}
