/** The primaries of all clusters change at the same time, as when a data centre is lost. */
import { connect } from "node:net";
import { serveNodes } from "../nodes.ts";
import { pause, Rolecall } from "../rolecall.ts";
import type { Row, RowMaker } from "../row.ts";
import { show } from "../statistics.ts";

const clusters = 500;
const nodesPerCluster = 3;
/** Within so many ms each cluster must be answered right. */
const boundMs = 2_000;
/** And the log may have so many lines about each. */
const linesMax = 2;
/** So many connections ask about a share of the clusters each, and so often, in ms. */
const askers = 20;
const everyMs = 50;
const giveUpMs = 20_000;

/** How long each cluster takes until its new primary is accepted, on one core. */
export const massFailover: RowMaker = {
  name: "mass-failover",
  async run({ count }) {
    const nodes = await serveNodes({
      by: "constant",
      clusters,
      nodes: nodesPerCluster,
      connections: "keep",
      motion: "moving",
    });
    const rolecall = await Rolecall.start(nodes.clusters, { log: { level: "info", format: "json" } });
    try {
      // The first rounds of all clusters have ended: they have events from then on.
      await pause(20_000);
      const linesOfStart = rolecall.process.stderrLines;
      const slowest: number[] = [];
      const middle: number[] = [];
      const cpu: number[] = [];
      for (let round = 0; round < count; round += 1) {
        const cpuBeforeMs = rolecall.process.cpuMs();
        const promotedMs = await nodes.promote();
        const rightMs = (await askAll(rolecall, (round + 1) % nodesPerCluster)).map((ms) => ms - promotedMs);
        rightMs.sort((one, other) => one - other);
        slowest.push(rightMs.at(-1) ?? Infinity);
        middle.push(rightMs[Math.floor(rightMs.length / 2)] ?? Infinity);
        await pause(15_000);
        cpu.push(rolecall.process.cpuMs() - cpuBeforeMs);
      }
      const lines = rolecall.process.stderrLines - linesOfStart;
      return rowsOf({ slowest, middle, cpu, lines: lines / clusters / count });
    } finally {
      await rolecall.stop();
      await nodes.stop();
    }
  },
};

interface Measured {
  readonly slowest: readonly number[];
  readonly middle: readonly number[];
  readonly cpu: readonly number[];
  readonly lines: number;
}

function rowsOf({ slowest, middle, cpu, lines }: Measured): readonly Row[] {
  const each = (all: readonly number[]): string => all.map(show).join(", ");
  return [
    {
      name: `ms until the last of ${clusters} clusters is answered right whose primaries change at once`,
      figure: Math.max(...slowest),
      bound: { atMost: boundMs },
      detail: `in each round ${each(slowest)}; half of them after ${each(middle)} ms; ${each(cpu)} ms of processor time in 15 s`,
    },
    {
      name: `lines of the log for each of ${clusters} clusters whose primaries change at once`,
      figure: lines,
      bound: { atMost: linesMax },
      detail: "at the level info",
    },
  ];
}

/** Asks about all clusters until each has its new primary. @returns the times of day of the first right answers, in ms */
async function askAll(rolecall: Rolecall, leader: number): Promise<number[]> {
  const paths = Array.from(
    { length: clusters },
    (_, at) => new URL(rolecall.url("/primary", `pg${leader + 1}`, `c${at}`)).pathname,
  );
  const shares = Array.from({ length: askers }, (_, at) => paths.filter((__, path) => path % askers === at));
  return (await Promise.all(shares.map((share) => askShare(rolecall.port, share)))).flat();
}

/** Over one connection, one request after the other. */
async function askShare(port: number, paths: readonly string[]): Promise<number[]> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  const until = Date.now() + giveUpMs;
  const found: number[] = [];
  let left = paths;
  try {
    while (left.length > 0 && Date.now() < until) {
      const still: string[] = [];
      for (const path of left)
        if (await isYes(socket, path)) found.push(Date.now());
        else still.push(path);
      left = still;
      if (left.length > 0) await pause(everyMs);
    }
  } finally {
    socket.destroy();
  }
  return [...found, ...left.map(() => Infinity)];
}

function isYes(socket: ReturnType<typeof connect>, path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    // An answer to GET fits into one read.
    socket.once("data", (bytes: Buffer) => {
      socket.off("error", reject);
      resolve(bytes.toString("latin1", 9, 12) === "200");
    });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\n\r\n`);
  });
}
