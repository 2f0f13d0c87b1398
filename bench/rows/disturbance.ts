/** What others do to the tail of checks: scrapes of our own metrics, and clients that mean ill or fail. */
import { median, show } from "../figure.ts";
import { tail } from "../load.ts";
import { childFile, serveNodes } from "../nodes.ts";
import { pause, Rolecall } from "../rolecall.ts";
import { interleave, type Row, type RowMaker, type Rounds } from "../row.ts";
import { Started } from "../started.ts";
import type { Tail } from "../weather.ts";

/** Checks a second while they are disturbed. */
const rate = 5_000;

/** A process that disturbs: it says a line when it is at work, and counts for every line on its stdin. */
interface Disturber {
  readonly child: "scraper" | "abusers" | "page-flood";
  readonly args: readonly string[];
  /** What it does, as a row tells it. */
  readonly what: string;
  /** What it counts. */
  readonly counted: string;
}

/** The tail beside scrapes of a thousand nodes' metrics, one after the other without a pause. */
export const tailBesideScrapes: RowMaker = {
  word: "scrapes",
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

/** The tail of good checks beside bad clients. */
export const tailBesideAbuse: RowMaker = {
  word: "abuse",
  async run(rounds) {
    const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "close" });
    const rolecall = await Rolecall.start(nodes.clusters);
    try {
      const what = "a storm of bad clients, 3 nodes probed";
      return await disturbed(rolecall, rounds, {
        child: "abusers",
        args: [`${rolecall.port}`],
        what,
        counted: "bad clients",
      });
    } finally {
      await rolecall.stop();
      await nodes.stop();
    }
  },
};

/** How many times the tail without it the tail beside a flood of pages may be. */
const floodedMax = 2;

/** The tail of checks beside a flood of operator pages, on a health listener that has them; with a worker too. */
export const tailBesidePages: RowMaker = {
  word: "pages",
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
          const [tailRow, ratioRow] = await disturbed(rolecall, rounds, {
            child: "page-flood",
            args: [`${rolecall.port}`],
            what,
            counted: "bytes of pages",
          });
          if (tailRow !== undefined) rows.push(tailRow);
          if (ratioRow !== undefined) rows.push({ ...ratioRow, bound: { atMost: floodedMax } });
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

/** The tail of a rolecall that runs, with and without scrapes of its metrics. @param how what else is true of it, as a row tells it */
export function besideScrapes(rolecall: Rolecall, rounds: Rounds, how: string): Promise<readonly Row[]> {
  const args = [`http://127.0.0.1:${rolecall.adminPort}/metrics`];
  const what = `scrapes of /metrics without a pause, ${how}`;
  return disturbed(rolecall, rounds, { child: "scraper", args, what, counted: "scrapes" });
}

async function disturbed(
  rolecall: Rolecall,
  rounds: Rounds,
  { child, args, what, counted }: Disturber,
): Promise<readonly Row[]> {
  const url = rolecall.url("/primary");
  const counts: number[] = [];
  const [quiet = [], loud = []] = await interleave(rounds, [
    (seconds) => tail(url, { rate, seconds }),
    async (seconds) => {
      const disturber = await Started.start({
        command: [process.execPath, childFile(child), ...args],
        core: "load",
        readyMs: 10_000,
      });
      try {
        const found = await tail(url, { rate, seconds });
        counts.push(Number(await disturber.ask("count")));
        return found;
      } finally {
        await disturber.stop();
      }
    },
  ]);
  const middle = (tails: readonly Tail[], key: "p99" | "worst" | "answersPerSecond"): number =>
    median(tails.map((each) => each[key]));
  const [with_, without] = [middle(loud, "p99"), middle(quiet, "p99")];
  const detail = `${show(with_)} against ${show(without)} ms, worst ${show(middle(loud, "worst"))} against ${show(middle(quiet, "worst"))} ms, ${show(middle(loud, "answersPerSecond"))} against ${show(middle(quiet, "answersPerSecond"))} answers/s; ${show(median(counts))} ${counted} a round`;
  const by = quiet[0]?.by ?? "nothing";
  return [
    { name: `p99 in ms at ${show(rate)}/s beside ${what} (${by})`, figure: with_, bound: null, detail },
    { name: `p99 at ${show(rate)}/s beside ${what}, times p99 without`, figure: with_ / without, bound: null, detail },
  ];
}
