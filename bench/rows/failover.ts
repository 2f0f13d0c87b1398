/** A storm of checks while the cluster it asks about changes its leader. */
import { median, show } from "../figure.ts";
import { storm, stormMaker } from "../load.ts";
import { serveNodes } from "../nodes.ts";
import { pause, Rolecall } from "../rolecall.ts";
import { interleave, type RowMaker } from "../row.ts";
import type { Weather } from "../weather.ts";

/** How long a storm blows before the leader changes, in ms. */
const beforeMs = 500;
/** How long a switchover may take, in ms: it takes about two seconds, the simulator's own default. */
const switchMs = 10_000;

/** Answers a second against the plain storm of the same run, and answers that are none of ours to give: all but 200 and 503. */
export const stormBesideSwitchover: RowMaker = {
  word: "failover",
  async run(rounds) {
    const nodes = await serveNodes({ by: "simulated", clusters: 1, nodes: 3, connections: "close" });
    const rolecall = await Rolecall.start(nodes.clusters);
    const api = nodes.clusters[0]?.[0]?.url ?? "";
    const blow = (seconds: number): Promise<Weather> =>
      storm({ url: rolecall.url("/primary"), connections: 64, seconds, readsStatuses: true, fatal: "none" });
    const switching = async (seconds: number): Promise<Weather> => {
      const [weather] = await Promise.all([blow(seconds), pause(beforeMs).then(() => switchOver(api))]);
      return weather;
    };
    try {
      const [plain = [], moved = []] = await interleave(rounds, [blow, switching]);
      const middle = (all: readonly Weather[]): number => median(all.map(({ answersPerSecond }) => answersPerSecond));
      const sum = (all: readonly Weather[], key: "failures" | "strange" | "unanswered"): number =>
        all.reduce((count, each) => count + each[key], 0);
      const [strange, unanswered] = [sum(moved, "strange"), sum(moved, "unanswered")];
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
          detail: `${strange} answers, ${unanswered} questions, beside ${show(sum(moved, "failures") - strange - unanswered)} answers of 503 in ${moved.length} storms`,
        },
      ];
    } finally {
      await rolecall.stop();
      await nodes.stop();
    }
  },
};

/**
 * Has pg1, which the storm asks about, hand over or take over, and waits until that is done.
 * @throws Error when the node does not answer 200
 */
async function switchOver(api: string): Promise<void> {
  const cluster = (await (await fetch(`${api}/cluster`)).json()) as {
    readonly members: readonly { readonly name: string; readonly role: string }[];
  };
  const leader = cluster.members.find(({ role }) => role === "leader")?.name;
  const response = await fetch(`${api}/switchover`, {
    method: "POST",
    body: JSON.stringify({ leader, candidate: leader === "pg1" ? "pg2" : "pg1" }),
    signal: AbortSignal.timeout(switchMs),
  });
  if (response.status !== 200)
    throw new Error(
      `Cannot measure a switchover as it must be answered 200: it was ${response.status} ${await response.text()}`,
    );
}
