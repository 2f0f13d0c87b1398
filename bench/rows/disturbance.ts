/** The latency of checks beside scrapes of our metrics, hostile clients and floods of pages. */
import { median, show } from "../statistics.ts";
import { measureLatency } from "../load.ts";
import { childFile, serveNodes } from "../nodes.ts";
import { pause, Rolecall, type Clusters } from "../rolecall.ts";
import { interleave, type Row, type RowMaker, type Rounds } from "../row.ts";
import { ChildProgram } from "../child-program.ts";
import { freePort } from "../../test/fake/free-port.ts";
import { hostileXdsClients } from "../../test/fake/hostile-xds-clients.ts";
import type { LatencyResult } from "../load-result.ts";

/** Checks per second. */
const rate = 5_000;
/** How long after the start all checks are answered by workers, at the latest, in ms. */
const workersTakeOverMs = 3_000;

/** What disturbs during each second measurement. */
interface Disturbance {
  /** What it does, for the name of the row. */
  readonly what: string;
  /** The unit of its count. */
  readonly counted: string;
  /** Begins to disturb. Resolves to what ends it, which resolves to its count. */
  readonly begin: () => Promise<() => Promise<number>>;
}

/** A program that disturbs as long as it runs. It prints a line once it works, and its count for each line on stdin. */
function byProgram(
  child: "scraper" | "abusers" | "page-flood" | "xds-abusers",
  args: readonly string[],
): Disturbance["begin"] {
  return async () => {
    const disturber = await ChildProgram.start({
      command: [process.execPath, childFile(child), ...args],
      core: "load",
      readyMs: 10_000,
    });
    return async () => {
      try {
        return Number(await disturber.request("count"));
      } finally {
        await disturber.stop();
      }
    };
  };
}

/** The latency beside scrapes of the metrics of a thousand nodes, without a pause. */
export const latencyBesideScrapes: RowMaker = {
  name: "scrapes",
  async run(rounds) {
    const nodes = await serveNodes({ by: "simulated", clusters: 200, nodes: 5, connections: "close" });
    const rolecall = await Rolecall.start(nodes.clusters);
    try {
      return await besideScrapes(rolecall, rounds, "1,000 nodes probed");
    } finally {
      await rolecall.stop();
      await nodes.stop();
    }
  },
};

/** What hostile nodes send in place of a status document, by the name that `hostile-nodes` has for it. */
const hostileKinds = [
  ["chunks", "status documents of 1 MB in chunks of one byte"],
  ["text", "status documents of 250 kB, one long string"],
  ["objects", "status documents of 250 kB, thousands of small objects"],
] as const;

/** The latency of checks beside hostile clients. */
export const latencyBesideAbuse: RowMaker = {
  name: "abuse",
  async run(rounds) {
    const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "close" });
    const rolecall = await Rolecall.start(nodes.clusters);
    try {
      const what = "hostile clients, 3 nodes probed";
      const begin = byProgram("abusers", [`${rolecall.port}`]);
      return await disturbed(rolecall, rounds, { begin, what, counted: "hostile clients" });
    } finally {
      await rolecall.stop();
      await nodes.stop();
    }
  },
};

/** The largest ratio of the latencies with and without a flood of pages. */
const floodedMax = 2;

/** The largest ratio of the latencies of one cluster's checks with and without hostile nodes in another. */
const hostileMax = 2;

/**
 * The latency of checks beside each kind of hostile clients of a listener with the dialect xds, without and with a
 * worker, and the resident memory afterwards.
 */
export const latencyBesideXdsAbuse: RowMaker = {
  name: "xds-abuse",
  async run(rounds) {
    const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "keep" });
    const rows: Row[] = [];
    try {
      for (const workers of [0, 1])
        for (const kind of Object.keys(hostileXdsClients))
          rows.push(...(await besideXds(kind, workers, rounds, nodes)));
      return rows;
    } finally {
      await nodes.stop();
    }
  },
};

async function besideXds(
  kind: string,
  workers: number,
  rounds: Rounds,
  { clusters }: { readonly clusters: Clusters },
): Promise<readonly Row[]> {
  const port = await freePort();
  const pools = [{ name: "write", cluster: "c0", check: "/primary" }];
  const rolecall = await Rolecall.start(clusters, { workers, pools }, { listeners: [{ port, dialect: "xds" }] });
  try {
    // Once a new worker answers, the main process ends its kept connections. h2load sends nothing on a connection that it
    // opens anew while it warms up.
    if (workers > 0) await pause(workersTakeOverMs);
    const what = `${kind} at a listener with the dialect xds, ${workers} workers`;
    const begin = byProgram("xds-abusers", [kind, `${port}`]);
    const rows = await disturbed(rolecall, rounds, { begin, what, counted: "acts" });
    const figure = rolecall.process.residentMb();
    return [...rows, { name: `resident memory in MB after ${what}`, figure, bound: null, detail: "" }];
  } finally {
    await rolecall.stop();
  }
}

/** The latency of checks of one cluster while the 30 nodes of another send all that they can. */
export const latencyBesideHostileNodes: RowMaker = {
  name: "hostile-nodes",
  async run(rounds) {
    const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "close" });
    const rows: Row[] = [];
    try {
      for (const [kind, what] of hostileKinds) {
        const hostile = await ChildProgram.start({
          command: [process.execPath, childFile("hostile-nodes"), kind, "30"],
          core: "load",
          readyMs: 10_000,
        });
        const rolecall = await Rolecall.start([...nodes.clusters, JSON.parse(hostile.line) as Clusters[number]]);
        try {
          const begin: Disturbance["begin"] = async () => {
            await hostile.request("loud");
            return async () => Number(await hostile.request("quiet"));
          };
          const disturbance = { begin, what: `30 nodes of another cluster that send ${what}`, counted: "such answers" };
          rows.push(...(await disturbed(rolecall, rounds, { ...disturbance, atMost: hostileMax })));
        } finally {
          await rolecall.stop();
          await hostile.stop();
        }
      }
      return rows;
    } finally {
      await nodes.stop();
    }
  },
};

/** The latency of checks beside a flood of operator pages on the same listener, without and with a worker. */
export const latencyBesidePages: RowMaker = {
  name: "pages",
  async run(rounds) {
    const nodes = await serveNodes({ by: "simulated", clusters: 2, nodes: 20, connections: "keep" });
    const rows: Row[] = [];
    try {
      for (const workers of [0, 1]) {
        const rolecall = await Rolecall.start(nodes.clusters, { workers }, { health: { operator_pages: true } });
        try {
          // Evidence to render.
          await pause(10_000);
          const what = `a flood of operator pages, 40 nodes probed, ${workers} workers`;
          const begin = byProgram("page-flood", [`${rolecall.port}`]);
          rows.push(
            ...(await disturbed(rolecall, rounds, { begin, what, counted: "bytes of pages", atMost: floodedMax })),
          );
        } finally {
          await rolecall.stop();
        }
      }
      return rows;
    } finally {
      await nodes.stop();
    }
  },
};

/**
 * The latency of a running rolecall, with and without scrapes of its metrics.
 * @param how its set-up, for the name of the row
 */
export function besideScrapes(rolecall: Rolecall, rounds: Rounds, how: string): Promise<readonly Row[]> {
  const begin = byProgram("scraper", [`http://127.0.0.1:${rolecall.adminPort}/metrics`]);
  const what = `scrapes of /metrics without a pause, ${how}`;
  return disturbed(rolecall, rounds, { begin, what, counted: "scrapes" });
}

/** @param disturbance with the largest ratio of the latencies with and without it, if one is promised */
async function disturbed(
  rolecall: Rolecall,
  rounds: Rounds,
  { begin, what, counted, atMost }: Disturbance & { readonly atMost?: number },
): Promise<readonly Row[]> {
  const url = rolecall.url("/primary");
  const counts: number[] = [];
  const [quiet = [], loud = []] = await interleave(rounds, [
    (seconds) => measureLatency(url, { rate, seconds }),
    async (seconds) => {
      const end = await begin();
      try {
        return await measureLatency(url, { rate, seconds });
      } finally {
        counts.push(await end());
      }
    },
  ]);
  const middle = (tails: readonly LatencyResult[], key: "p99" | "worst" | "answersPerSecond"): number =>
    median(tails.map((each) => each[key]));
  const [with_, without] = [middle(loud, "p99"), middle(quiet, "p99")];
  const detail = `${show(with_)} against ${show(without)} ms, worst ${show(middle(loud, "worst"))} against ${show(middle(quiet, "worst"))} ms, ${show(middle(loud, "answersPerSecond"))} against ${show(middle(quiet, "answersPerSecond"))} answers/s; ${show(median(counts))} ${counted} a round`;
  const by = quiet[0]?.by ?? "nothing";
  return [
    { name: `p99 in ms at ${show(rate)}/s beside ${what} (${by})`, figure: with_, bound: null, detail },
    {
      name: `p99 at ${show(rate)}/s beside ${what}, times p99 without`,
      figure: with_ / without,
      bound: atMost === undefined ? null : { atMost },
      detail,
    },
  ];
}
