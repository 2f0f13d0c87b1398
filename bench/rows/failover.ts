/** A storm of checks while the cluster it asks about changes its leader. */
import { median, show } from "../figure.ts";
import { storm, stormMaker, type Weather } from "../load.ts";
import { serveNodes } from "../nodes.ts";
import { pause, Rolecall } from "../rolecall.ts";
import { interleave, type RowMaker } from "../row.ts";

/** How long a storm blows before the leader changes, in ms. */
const beforeMs = 500;
/** How long a switchover may take, in ms: it takes about two seconds, the simulator's own default. */
const switchMs = 10_000;

/**
 * Answers a second against the plain storm of the same run, and answers that are none of ours to give: all but 200 and 503. Statuses are read in
 * a storm of its own, as reading them costs the storm's maker its speed.
 */
export const stormBesideSwitchover: RowMaker = {
  word: "failover",
  async run(rounds) {
    const nodes = await serveNodes({ by: "simulated", clusters: 1, nodes: 3, connections: "close" });
    const rolecall = await Rolecall.start(nodes.clusters);
    const api = nodes.clusters[0]?.[0]?.url ?? "";
    const base = { url: rolecall.url("/primary"), connections: 64 };
    const switching = async (asked: { readonly seconds: number; readonly readsStatuses?: boolean }): Promise<Weather> => {
      const [weather] = await Promise.all([storm({ ...base, ...asked }), pause(beforeMs).then(() => switchOver(api))]);
      return weather;
    };
    try {
      const [plain = [], moved = [], read = []] = await interleave(rounds, [
        (seconds) => storm({ ...base, seconds }),
        (seconds) => switching({ seconds }),
        (seconds) => switching({ seconds, readsStatuses: true }),
      ]);
      const middle = (all: readonly Weather[]): number => median(all.map(({ answersPerSecond }) => answersPerSecond));
      const sum = (all: readonly Weather[], key: "strange" | "unanswered"): number => all.reduce((count, each) => count + each[key], 0);
      const [strange, unanswered] = [sum(read, "strange"), sum([...plain, ...moved, ...read], "unanswered")];
      return [
        {
          name: "answers/s, times the plain storm: while the leader changes",
          figure: middle(moved) / middle(plain),
          bound: null,
          detail: `${show(middle(moved))} against ${show(middle(plain))} /s by ${stormMaker()}; a switchover in each storm`,
        },
        {
          name: "answers other than 200 and 503, and questions without one, while the leader changes",
          figure: strange + unanswered,
          bound: { atMost: 0 },
          detail: `${strange} answers, ${unanswered} questions; statuses read at ${show(middle(read))} /s`,
        },
      ];
    } finally {
      await rolecall.stop();
      await nodes.stop();
    }
  },
};

/**
 * Has the leader hand over, to whomever the cluster elects, and waits until that is done.
 * @throws Error when the node does not answer 200
 */
async function switchOver(api: string): Promise<void> {
  const cluster = (await (await fetch(`${api}/cluster`)).json()) as {
    readonly members: readonly { readonly name: string; readonly role: string }[];
  };
  const leader = cluster.members.find(({ role }) => role === "leader")?.name;
  const response = await fetch(`${api}/switchover`, {
    method: "POST",
    body: JSON.stringify({ leader }),
    signal: AbortSignal.timeout(switchMs),
  });
  if (response.status !== 200)
    throw new Error(`Cannot measure a switchover as it must be answered 200: it was ${response.status} ${await response.text()}`);
}
