/** Storms that are not all alike, against the plain keep-alive storm of the same run by the same program. */
import { blow, middle, middleRatio, type Blow } from "../blow.ts";
import { show } from "../figure.ts";
import { storm, stormByOurselves, stormMaker } from "../load.ts";
import { serveNodes } from "../nodes.ts";
import { family } from "../proc.ts";
import { Rolecall } from "../rolecall.ts";
import { interleave, type Row, type RowMaker } from "../row.ts";
import type { Target } from "../weather.ts";

const connections = 64;
const distinct = 1_000;

/** HEAD, OPTIONS and GET in turn; and a thousand different queries. */
export const mixedStorms: RowMaker = {
  word: "mixed",
  async run(rounds) {
    const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "close", motion: "moving" });
    const rolecall = await Rolecall.start(nodes.clusters);
    const url = rolecall.url("/primary");
    const path = new URL(url).pathname;
    const methods = (["HEAD", "OPTIONS", "GET"] as const).map((method): Target => ({ method, path }));
    const pool = new URL(rolecall.url("/replica", "pg2")).pathname;
    const queries = Array.from({ length: distinct }, (_, at): Target => ({
      method: "GET",
      path: `${pool}?lag=${1_000_000 + at}`,
    }));
    const pids = family(rolecall.process.pid);
    const blowing = (targets: readonly Target[] | null, by = storm) => {
      return (seconds: number): Promise<Blow> =>
        blow(pids, { url, connections, seconds, ...(targets === null ? {} : { targets }) }, by);
    };
    const withoutHead = methods.filter(({ method }) => method !== "HEAD");
    try {
      const [plain = [], thousand = [], two = [], ownPlain = [], three = []] = await interleave(rounds, [
        blowing(null),
        blowing(queries),
        blowing(withoutHead),
        blowing(null, stormByOurselves),
        blowing(methods, stormByOurselves),
      ]);
      return [
        row("1,000 distinct queries", { mixed: thousand, plain, by: stormMaker() }),
        row("OPTIONS and GET in turn", { mixed: two, plain, by: stormMaker() }),
        row("HEAD, OPTIONS and GET in turn", { mixed: three, plain: ownPlain, by: "the bench's own program" }),
        {
          name: "CPU of an answer, times the plain storm's: HEAD, OPTIONS and GET in turn",
          figure: middleRatio(three, ownPlain, "microseconds"),
          bound: null,
          detail: `${show(middle(three).microseconds)} against ${show(middle(ownPlain).microseconds)} microseconds`,
        },
      ];
    } finally {
      await rolecall.stop();
      await nodes.stop();
    }
  },
};

interface Sides {
  readonly mixed: readonly Blow[];
  readonly plain: readonly Blow[];
  readonly by: string;
}

function row(name: string, { mixed, plain, by }: Sides): Row {
  return {
    name: `answers/s, times the plain storm: ${name}`,
    figure: middleRatio(mixed, plain, "answersPerSecond"),
    bound: null,
    detail: `${show(middle(mixed).answersPerSecond)} against ${show(middle(plain).answersPerSecond)} /s by ${by}`,
  };
}
