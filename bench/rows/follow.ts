/** What a follower costs, against the owner that probes, at the same time over the same nodes. */
import { until } from "../../test/fake/until.ts";
import { serveNodes } from "../nodes.ts";
import { pause, Rolecall } from "../rolecall.ts";
import type { Row, RowMaker } from "../row.ts";
import { median, show } from "../statistics.ts";

const clusters = 200;
const nodes = 5;
const roundMs = 10_000;

/** An owner without a follower, one with a follower, and the follower. */
export const costOfFollowing: RowMaker = {
  name: "follow",
  async run({ count }) {
    const rows: Row[] = [];
    for (const motion of ["moving", "still"] as const) {
      const served = await serveNodes({ by: "constant", clusters, nodes, connections: "keep", motion });
      const alone = await Rolecall.start(served.clusters);
      const owner = await Rolecall.start(served.clusters);
      const edge = await Rolecall.start(served.clusters, { follow: [`http://127.0.0.1:${owner.adminPort}`] });
      try {
        await until({ what: "a follower of all clusters", seconds: 60 }, async () =>
          (await edge.followedCount()) === clusters ? true : undefined,
        );
        await pause(10_000);
        const shares: { readonly alone: number; readonly owner: number; readonly edge: number }[] = [];
        const before = await served.answers();
        let sentBytes = 0;
        for (let round = 0; round < count; round += 1) {
          const read = (): readonly number[] => [alone, owner, edge].map(({ process }) => process.cpuMs());
          // The page of metrics with the bytes takes some 0.1 s: it is read outside the time that is measured.
          const bytes = await edge.receivedBytes();
          const [began, first] = [performance.now(), read()];
          await pause(roundMs);
          const [spentMs, last] = [performance.now() - began, read()];
          sentBytes += (await edge.receivedBytes()) - bytes;
          const [a = 0, o = 0, e = 0] = last.map((ms, at) => ((ms - (first[at] ?? 0)) / spentMs) * 100);
          shares.push({ alone: a, owner: o, edge: e });
        }
        const asked = ((await served.answers()) - before) / (count * (roundMs / 1000) * clusters * nodes);
        const of = (key: "alone" | "owner" | "edge"): number => median(shares.map((share) => share[key]));
        rows.push(
          {
            name: `processor time of a follower of 1,000 nodes, times that of probing: positions ${motion}`,
            figure: of("edge") / of("alone"),
            bound: { atMost: 0.34 },
            detail: `${show(of("edge"))} % of a core against ${show(of("alone"))} %; an owner with one follower ${show(of("owner"))} %; each node got ${show(asked)} requests a second from two owners`,
          },
          {
            name: `bytes a follower gets of each node and second: positions ${motion}`,
            figure: sentBytes / (count * (roundMs / 1000) * clusters * nodes),
            bound: null,
            detail: `resident: owner ${show(owner.process.residentMb())} MB, follower ${show(edge.process.residentMb())} MB`,
          },
        );
      } finally {
        for (const each of [edge, owner, alone]) await each.process.stop();
        await served.stop();
      }
    }
    return rows;
  },
};
