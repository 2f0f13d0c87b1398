/** Checks in the default configuration beside 1,000 probed nodes, and nginx in the place of what answers. */
import { openLivePage } from "../live-page.ts";
import { find } from "../machine.ts";
import { serveNodes, type NodeOptions, type ProbeGaps, type ServedNodes } from "../nodes.ts";
import { childrenOf } from "../process-stats.ts";
import { pause, Rolecall } from "../rolecall.ts";
import type { Rounds, Row, RowMaker } from "../row.ts";
import { median, show } from "../statistics.ts";
import {
  latenciesAgainstNginx,
  medianLatency,
  showNginx,
  sweepRate,
  sweepRows,
  type NginxComparison,
} from "../sweep.ts";

/** The interval of probes is 1 s, drawn up to 10 % longer; a probe may be as much again too late. */
const gapMsMax = 1_200;
const ratioMax = 1.25;
const ratioName = "p99, times nginx's: default configuration";
const bothKinds = ["keep", "close"] as const;
/** How long checks are measured beside a reload, a scrape and a page, in s. */
const disturbedSeconds = 6;
/** From the start of h2load, which warms up for 1 s, until the first of them, and from each to the next, in ms. */
const eventsMs = 1_500;

/** The latencies at 20,000 checks a second, and how late probes are. */
export const latencyByDefault: RowMaker = {
  name: "default",
  run: (rounds) => forKinds(bothKinds, rounds, steadyRows),
};

/** The part that the guard has time for: real nodes close connections. A p99 of one second varies by half: it takes more. */
export const guardedLatencyByDefault: RowMaker = {
  name: "default",
  run: ({ settleMs }) => forKinds(["close"], { count: 9, seconds: 2, settleMs }, steadyRows),
};

/** The worst second while the configuration is loaded again, metrics are read and the live page is opened. */
export const worstSecondByDefault: RowMaker = {
  name: "default-disturbed",
  run: (rounds) => forKinds(bothKinds, { ...rounds, seconds: disturbedSeconds }, disturbedRows),
};

/** What is measured. */
interface Setup {
  readonly rounds: Rounds;
  readonly nodes: ServedNodes;
  readonly rolecall: Rolecall;
  /** What is probed, for the names of rows. */
  readonly beside: string;
}

async function forKinds(
  kinds: readonly NodeOptions["connections"][],
  rounds: Rounds,
  rowsOf: (setup: Setup) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  if (find("h2load") === undefined) return [{ name: ratioName, notRun: "package nghttp2-client is not installed" }];
  const rows: Row[] = [];
  for (const kept of kinds) {
    // The scheduler places all but the load, as on the machine of an operator.
    const kind = { clusters: 200, nodes: 5, connections: kept, motion: "moving" } as const;
    const nodes = await serveNodes({ by: "constant", ...kind, core: "any" });
    try {
      const rolecall = await Rolecall.start(nodes.clusters, { workers: undefined }, { core: "any" });
      try {
        rows.push(...(await rowsOf({ rounds, nodes, rolecall, beside: `nodes that ${kept} connections` })));
      } finally {
        await rolecall.stop();
      }
    } finally {
      await nodes.stop();
    }
  }
  return rows;
}

async function steadyRows({ rounds, nodes, rolecall, beside }: Setup): Promise<readonly Row[]> {
  const gaps: ProbeGaps[] = [];
  const around = countingGaps(nodes, gaps);
  const tails = await latenciesAgainstNginx(rolecall.url("/primary"), { rounds, core: "any", around });
  const more = `; ${workersOf(rolecall)}; ${showNginx(tails.nginx)}`;
  const ratios = tails.nginx.map(({ p99 }, round) => (tails.rolecall[round]?.p99 ?? Number.NaN) / p99);
  const name = `${ratioName}, ${beside}`;
  return [
    ...sweepRows(medianLatency(tails.rolecall), `default configuration, 1,000 ${beside} probed`, more),
    ratios.length === 0
      ? { name, notRun: "package nginx is not installed" }
      : { name, figure: median(ratios), bound: { atMost: ratioMax }, detail: `in each round ${listOf(ratios)}` },
    gapRow(gaps, `default configuration, ${beside}`),
  ];
}

async function disturbedRows({ rounds, nodes, rolecall, beside }: Setup): Promise<readonly Row[]> {
  const gaps: ProbeGaps[] = [];
  const counting = countingGaps(nodes, gaps);
  const disturbances: Promise<void>[] = [];
  const tails = await latenciesAgainstNginx(rolecall.url("/primary"), {
    rounds,
    core: "any",
    around: (side, load) =>
      counting(side, async () => {
        const ended = load();
        disturbances.push(disturb(rolecall, ended));
        const [found] = await Promise.all([ended, disturbances.at(-1)]);
        return found;
      }),
  });
  const reloads = await rolecall.reloadCount();
  if (reloads < disturbances.length)
    throw new Error(`Cannot measure reloads: ${disturbances.length} must be applied, got ${reloads}`);
  const secondsOf = (side: "rolecall" | "nginx"): readonly { readonly p99: number; readonly p999: number }[] =>
    tails[side].flatMap(({ worstSecond }) => worstSecond ?? []);
  const what = `of the worst second in ms at ${show(sweepRate)}/s, a reload, a scrape and a page opened meanwhile: default configuration, ${beside}`;
  const rowOf = (name: string, key: "p99" | "p999", atMost: number): Row => {
    const values = secondsOf("rolecall").map((each) => each[key]);
    const detail = `median of the rounds ${listOf(values)}; ${workersOf(rolecall)}; ${showNginx(secondsOf("nginx"))}`;
    return { name: `${name} ${what}`, figure: median(values), bound: { atMost }, detail };
  };
  return [
    rowOf("p99", "p99", 2),
    rowOf("p99.9", "p999", 10),
    gapRow(gaps, `a reload, a scrape and a page opened meanwhile: default configuration, ${beside}`),
  ];
}

/** A reload, a scrape and a page that stays open until the load ends. */
async function disturb(rolecall: Rolecall, ended: Promise<unknown>): Promise<void> {
  const admin = `http://127.0.0.1:${rolecall.adminPort}`;
  await pause(eventsMs);
  rolecall.reload();
  await pause(eventsMs);
  await (await fetch(`${admin}/metrics`)).text();
  await pause(eventsMs);
  const { close } = await openLivePage(admin);
  await ended.finally(close);
}

/** Notes the gaps between probes in the rounds of rolecall. */
function countingGaps(nodes: ServedNodes, gaps: ProbeGaps[]): NginxComparison["around"] {
  return async (side, load) => {
    await nodes.gaps();
    const found = await load();
    const counted = await nodes.gaps();
    if (side === "rolecall") gaps.push(counted);
    return found;
  };
}

function gapRow(gaps: readonly ProbeGaps[], what: string): Row {
  const count = gaps.reduce((sum, each) => sum + each.count, 0);
  const worst = gaps.map(({ worstMs }) => worstMs);
  return {
    name: `longest gap in ms between two probes of a node, ${what}`,
    figure: Math.max(...worst),
    bound: { atMost: gapMsMax },
    detail: `of ${show(count)} as the nodes saw them, at ${show(sweepRate)} checks/s; longest in each round ${listOf(worst)}`,
  };
}

function workersOf({ process }: Rolecall): string {
  return `${childrenOf(process.pid).length} worker(s)`;
}

function listOf(values: readonly number[]): string {
  return values.map(show).join(", ");
}
