/** Answers from processes of their own: no sweep and no scrape in their tail, and little more cost for the second of them. */
import { blow, middle, middleRatio, type Blow } from "../blow.ts";
import { median, show } from "../figure.ts";
import { stormMaker, tail } from "../load.ts";
import { serveNodes } from "../nodes.ts";
import { startNginx } from "../peers.ts";
import { memoryMbOf, ticksOf } from "../proc.ts";
import { pause } from "../rolecall.ts";
import { interleave, type Rounds, type Row, type RowMaker } from "../row.ts";
import { startStaff } from "../staff.ts";
import { middleTail, sweepRate, sweepRows } from "../sweep.ts";
import type { Tail } from "../weather.ts";
import { besideScrapes } from "./disturbance.ts";

const connections = 64;
const residentMbMax = 60;
const secondCostMax = 1.15;
/** A worker that has just come compiles what it runs: probes warm it up, in ms. */
const warmMs = 5_000;

/** The tail at 20,000 checks a second of one worker, while 1,000 nodes are probed every second by the main process. */
export const workerBesideSweep: RowMaker = {
  word: "worker-sweep",
  async run(rounds) {
    const rows: Row[] = [];
    for (const kept of ["keep", "close"] as const) {
      const nodes = await serveNodes({ by: "constant", clusters: 200, nodes: 5, connections: kept, motion: "moving" });
      try {
        const staff = await startStaff(nodes.clusters, 1);
        if ("notRun" in staff)
          return [{ name: `p99 and p99.9 in ms at ${show(sweepRate)}/s, one worker`, notRun: staff.notRun }];
        try {
          rows.push(
            ...(await besideSweep(
              staff.rolecall.url("/primary"),
              rounds,
              `one worker, 1,000 nodes that ${kept} connections probed`,
            )),
          );
        } finally {
          await staff.rolecall.stop();
        }
      } finally {
        await nodes.stop();
      }
    }
    return rows;
  },
};

/** Asks the worker, and in turn with it a server in C in its place, beside the same sweep: no tail here can be shorter than that one's. */
async function besideSweep(url: string, rounds: Rounds, beside: string): Promise<readonly Row[]> {
  const nginx = await startNginx(await (await fetch(url)).text());
  try {
    await pause(warmMs);
    const idle: number[] = [];
    const atUs = async (seconds: number): Promise<Tail> => {
      const before = ticksOf(1);
      const found = await tail(url, { rate: sweepRate, seconds });
      const after = ticksOf(1);
      idle.push(((after.idle - before.idle) / (after.all - before.all)) * 100);
      return found;
    };
    const atNginx = "notRun" in nginx ? [] : [(seconds: number) => tail(nginx.url, { rate: sweepRate, seconds })];
    const [ours = [], theirs = []] = await interleave(rounds, [atUs, ...atNginx]);
    const floor = theirs.length === 0 ? null : middleTail(theirs);
    const told = floor === null ? "nginx not run" : `nginx in its place ${show(floor.p99)} / ${show(floor.p999)} ms`;
    return sweepRows(middleTail(ours), beside, `; core of the load ${show(median(idle))} % idle; ${told}`);
  } finally {
    if (!("notRun" in nginx)) await nginx.stop();
  }
}

/** The tail of one worker at 5,000 checks a second, beside scrapes of the main process without a pause. */
export const workerBesideScrapes: RowMaker = {
  word: "worker-scrapes",
  async run(rounds) {
    const nodes = await serveNodes({ by: "constant", clusters: 200, nodes: 5, connections: "keep", motion: "moving" });
    try {
      const staff = await startStaff(nodes.clusters, 1);
      if ("notRun" in staff)
        return [{ name: "p99 in ms beside scrapes of /metrics, one worker", notRun: staff.notRun }];
      try {
        return await besideScrapes(staff.rolecall, rounds, "1,000 nodes probed, one worker");
      } finally {
        await staff.rolecall.stop();
      }
    } finally {
      await nodes.stop();
    }
  },
};

/** What an answer costs all workers together, with two of them against one; and what each holds in memory. */
export const twoWorkers: RowMaker = {
  word: "two-workers",
  async run(rounds) {
    const name = "CPU of an answer, two workers' together, times one's";
    const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "close", motion: "moving" });
    const one = await startStaff(nodes.clusters, 1);
    const two = "notRun" in one ? one : await startStaff(nodes.clusters, 2);
    try {
      if ("notRun" in one) return [{ name, notRun: one.notRun }];
      if ("notRun" in two) return [{ name, notRun: two.notRun }];
      const rows: Row[] = [];
      for (const isNew of [false, true]) {
        const [by1 = [], by2 = []] = await interleave(
          rounds,
          [one, two].map(
            ({ rolecall, workers }) =>
              (seconds: number): Promise<Blow> =>
                blow(workers, { url: rolecall.url("/primary"), seconds, connections, isNew }),
          ),
        );
        rows.push({
          name: `${name}: ${isNew ? "new connections" : "kept connections"}`,
          figure: middleRatio(by2, by1, "microseconds"),
          bound: { atMost: secondCostMax },
          detail: `${show(middle(by2).microseconds)} against ${show(middle(by1).microseconds)} microseconds at ${show(middle(by2).answersPerSecond)} and ${show(middle(by1).answersPerSecond)} /s by ${stormMaker()}, all workers on one core`,
        });
      }
      return [...rows, residentOf(two.workers)];
    } finally {
      for (const staff of [one, two]) if (!("notRun" in staff)) await staff.rolecall.stop();
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
    detail: `after the storms; ${each.map(({ rss, pss }) => `${show(rss)} (${show(pss)} where shared pages count in part)`).join(", ")}`,
  };
}
