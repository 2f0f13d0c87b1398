import { existsSync } from "node:fs";
import { serveNodes, type ServedNodes } from "../nodes.ts";
import { pause, Rolecall } from "../rolecall.ts";
import type { Row, RowMaker } from "../row.ts";
import { median, show } from "../statistics.ts";

const times = 11;
/** The file of the single executable, if it is to be measured too. */
const executable = process.env["EXECUTABLE"];

/**
 * How long `rolecall serve` takes from its start as a process until `/readyz` is 200, with three nodes that answer, and
 * the memory that it has then.
 */
export const startToReady: RowMaker = {
  name: "start",
  async run() {
    const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "close" });
    try {
      const rows = await rowsOfProgram(nodes, "from files");
      if (executable === undefined || !existsSync(executable))
        return [...rows, { name: "start: executable", notRun: "EXECUTABLE names none" }];
      return [...rows, ...(await rowsOfProgram(nodes, "executable", executable))];
    } finally {
      await nodes.stop();
    }
  },
};

async function rowsOfProgram({ clusters }: ServedNodes, what: string, file?: string): Promise<readonly Row[]> {
  const [tookMs, cpuMs, residentMb] = [[] as number[], [] as number[], [] as number[]];
  for (let round = 0; round < times; round += 1) {
    const rolecall = await Rolecall.start(clusters, {}, file === undefined ? {} : { executable: file });
    tookMs.push(rolecall.readyMs);
    cpuMs.push(rolecall.process.cpuMs());
    await pause(2_000);
    residentMb.push(rolecall.process.residentMb());
    await rolecall.stop();
  }
  const all = tookMs.toSorted((one, other) => one - other).map(show);
  return [
    {
      name: `ms from start to ready, ${what}`,
      figure: median(tookMs),
      bound: { atMost: 400 },
      detail: `median of ${times}, ${all[0]} to ${all.at(-1)}; 3 nodes that answer`,
    },
    {
      name: `ms of processor time from start to ready, ${what}`,
      figure: median(cpuMs),
      bound: null,
      detail: `median of ${times}, all threads`,
    },
    {
      name: `resident MB 2 s after that, ${what}`,
      figure: median(residentMb),
      bound: null,
      detail: `median of ${times}`,
    },
  ];
}
