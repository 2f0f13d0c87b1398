import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveNodes } from "../nodes.ts";
import { heldMbOf, type HeldMemory } from "../process-stats.ts";
import { type Clusters, pause, Rolecall } from "../rolecall.ts";
import type { Row, RowMaker } from "../row.ts";
import { median, show } from "../statistics.ts";

const times = 11;
const readyMsMax = 400;
/** The file of the single executable, if it is to be measured too. It contains Node 24: run the bench with Node 24. */
const executable = process.env["EXECUTABLE"];

/** One way to start rolecall. */
interface Variant {
  readonly name: string;
  readonly executable?: string;
  readonly workers?: number;
  /** The code cache of a start from files: that of the starts before it if left out. */
  readonly cache?: "none yet" | "off";
}

const fromFiles: readonly Variant[] = [
  { name: "from files" },
  { name: "from files, first start", cache: "none yet" },
  { name: "from files, without a place for the code cache", cache: "off" },
  { name: "from files, workers: 2", workers: 2 },
];

/** What one start took. */
interface Start {
  readonly readyMs: number;
  readonly cpuMs: number;
  readonly memory: HeldMemory;
}

/**
 * How long `rolecall serve` takes from its start as a process until `/readyz` is 200, with three nodes that answer, and
 * the memory that its processes have then.
 */
export const startToReady: RowMaker = {
  name: "start",
  async run() {
    const isPresent = executable !== undefined && existsSync(executable);
    const variants = isPresent
      ? [...fromFiles, { name: "executable", executable }, { name: "executable, workers: 2", executable, workers: 2 }]
      : fromFiles;
    const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "close" });
    const scratch = mkdtempSync(join(tmpdir(), "rolecall-bench-cache-"));
    try {
      const starts = variants.map(() => [] as Start[]);
      // The first round fills the code cache, and is not counted. The rounds of all variants alternate.
      for (let round = 0; round <= times; round += 1)
        for (const [at, variant] of variants.entries()) {
          const start = await startOnce(nodes.clusters, variant, join(scratch, variant.cache ? `${round}` : "kept"));
          if (round > 0) starts[at]?.push(start);
        }
      const rows = variants.flatMap((variant, at) => rowsOf(variant, starts[at] ?? []));
      return isPresent ? rows : [...rows, { name: "start: executable", notRun: "EXECUTABLE names none" }];
    } finally {
      rmSync(scratch, { recursive: true, force: true });
      await nodes.stop();
    }
  },
};

async function startOnce(clusters: Clusters, variant: Variant, cacheFolder: string): Promise<Start> {
  const { executable: file, workers = 0, cache } = variant;
  const rolecall = await Rolecall.start(
    clusters,
    { workers },
    {
      ...(file === undefined ? {} : { executable: file }),
      // Three processes on one core would wait for each other.
      core: workers === 0 ? "measured" : "any",
      env: cache === "off" ? { NODE_DISABLE_COMPILE_CACHE: "1" } : { CACHE_DIRECTORY: cacheFolder },
    },
  );
  const [readyMs, cpuMs] = [rolecall.readyMs, rolecall.process.cpuMs()];
  await pause(2_000);
  const memory = heldMbOf(rolecall.process.pids());
  await rolecall.stop();
  return { readyMs, cpuMs, memory };
}

function rowsOf({ name, cache, workers }: Variant, starts: readonly Start[]): readonly Row[] {
  const readyMs = starts.map((start) => start.readyMs);
  const sorted = readyMs.toSorted((one, other) => one - other).map(show);
  const middle = (what: keyof HeldMemory): number => median(starts.map(({ memory }) => memory[what]));
  return [
    {
      name: `ms from start to ready, ${name}`,
      figure: median(readyMs),
      // Promised for one process that has started before.
      bound: cache === undefined && workers === undefined ? { atMost: readyMsMax } : null,
      detail: `median of ${times}, ${sorted[0]} to ${sorted.at(-1)}; 3 nodes that answer; Node ${process.version}`,
    },
    {
      name: `ms of processor time from start to ready, ${name}`,
      figure: median(starts.map(({ cpuMs }) => cpuMs)),
      bound: null,
      detail: `median of ${times}, all threads of all processes`,
    },
    {
      name: `resident MB of all processes 2 s after that, ${name}`,
      figure: middle("ownMb") + middle("fileMb"),
      bound: null,
      detail: `${show(middle("ownMb"))} of their own, ${show(middle("fileMb"))} of files, counted once`,
    },
  ];
}
