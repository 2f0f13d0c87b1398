/** How long a start with many clusters takes, and how long the live page waits for its first rows meanwhile. */
import { until } from "../../test/fake/until.ts";
import { queuedMsOf } from "../../src/core/workers/patient-deadline.ts";
import { openLivePage } from "../live-page.ts";
import { serveNodes } from "../nodes.ts";
import { hasStatus, Rolecall } from "../rolecall.ts";
import type { Row, RowMaker } from "../row.ts";
import { median, show } from "../statistics.ts";

const clusters = 1_000;
const times = 5;
const readyMsMax = 3_000;
const cpuMsMax = 4_000;
const rowsMsMax = 1_000;

/** What one start took, in ms. */
interface Start {
  readonly readyMs: number;
  readonly cpuMs: number;
  readonly rowsMs: number;
  /** How long its main thread waited for a processor: other work shares the machine. */
  readonly queuedMs: number;
}

/** Starts with 1,000 clusters of three nodes that answer, in the default configuration. */
export const manyToReady: RowMaker = {
  name: "start-many",
  async run() {
    const nodes = await serveNodes({ by: "constant", clusters, nodes: 3, connections: "keep" });
    try {
      const starts: Start[] = [];
      for (let time = 0; time < times; time += 1) {
        let rowsMs = Infinity;
        const meanwhile = async (admin: string): Promise<void> => {
          rowsMs = await firstRowsMs(admin);
        };
        const rolecall = await Rolecall.start(nodes.clusters, { workers: "auto" }, { core: "any", meanwhile });
        const [cpuMs, queuedMs] = [rolecall.process.cpuMs(), queuedMsOf(rolecall.process.pid)];
        starts.push({ readyMs: rolecall.readyMs, cpuMs, rowsMs, queuedMs });
        await rolecall.stop();
      }
      const what = `${show(clusters)} clusters of three nodes`;
      return [
        rowOf(starts, "readyMs", `ms from start to ready, ${what}`, readyMsMax),
        rowOf(starts, "cpuMs", `ms of processor time from start to ready, ${what}`, cpuMsMax),
        rowOf(starts, "rowsMs", `ms until the live page has its first rows during the start, ${what}`, rowsMsMax),
      ];
    } finally {
      await nodes.stop();
    }
  },
};

function rowOf(starts: readonly Start[], key: keyof Start, name: string, atMost: number): Row {
  const values = starts.map((start) => start[key]);
  const sorted = values.toSorted((one, other) => one - other).map(show);
  const queuedMs = median(starts.map((start) => start.queuedMs));
  const detail =
    `median of ${times}, ${sorted[0]} to ${sorted.at(-1)}; with the worker; ` +
    `its main thread waited ${show(queuedMs)} ms for a processor`;
  return { name, figure: median(values), bound: { atMost }, detail };
}

/** How long the live page waits for its first rows, from when its listener is open. In ms. */
async function firstRowsMs(admin: string): Promise<number> {
  await until({ what: "the admin listener", seconds: 30 }, () => hasStatus(`${admin}/livez`, 200));
  const { rowsMs, close } = await openLivePage(admin);
  close();
  return rowsMs;
}
