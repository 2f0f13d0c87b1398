/** What the audit of the routes costs beside everything else that rolecall does. */
import { ChildProgram } from "../child-program.ts";
import { childFile, serveNodes } from "../nodes.ts";
import { pause, Rolecall } from "../rolecall.ts";
import type { RowMaker } from "../row.ts";
import { median, show } from "../statistics.ts";

const haproxies = 50;
/** Of each HAProxy: one for each of its clusters. */
const backends = 5;
const clusters = haproxies * backends;
const nodes = 4;
/** Long enough for several looks at each target, in ms. */
const roundMs = 20_000;

/** Two rolecalls at the same time, with the audit and without, over the same nodes and HAProxies. */
export const costOfAudit: RowMaker = {
  name: "audit",
  async run({ count }) {
    const served = await serveNodes({ by: "constant", clusters, nodes, connections: "keep", motion: "moving" });
    const fakes = await ChildProgram.start({
      command: [process.execPath, childFile("fake-haproxies"), `${haproxies}`, `${backends}`, `${nodes}`],
      core: "load",
      readyMs: 30_000,
    });
    const sockets: unknown = JSON.parse(fakes.line);
    const balancers = (Array.isArray(sockets) ? sockets : []).map((socket, at) => ({
      name: `lb${at}`,
      haproxy: {
        socket: String(socket),
        backends: Array.from({ length: backends }, (_, backend) => ({
          name: `w${backend}`,
          cluster: `c${at * backends + backend}`,
          check: "/primary",
        })),
      },
    }));
    const start = (interval: string): Promise<Rolecall> =>
      Rolecall.start(served.clusters, { balancers, audit: { interval } });
    const [audited, plain] = [await start("5s"), await start("0s")];
    await pause(10_000); // both warm up, and the first looks are over
    const shares: { readonly audited: number; readonly plain: number }[] = [];
    const looks = Number(await fakes.request("count"));
    for (let round = 0; round < count; round += 1) {
      const before = { ms: performance.now(), audited: audited.process.cpuMs(), plain: plain.process.cpuMs() };
      await pause(roundMs);
      const percentOf = (spentMs: number): number => (spentMs / (performance.now() - before.ms)) * 100;
      shares.push({
        audited: percentOf(audited.process.cpuMs() - before.audited),
        plain: percentOf(plain.process.cpuMs() - before.plain),
      });
    }
    const answered = Number(await fakes.request("count")) - looks;
    const due = (clusters * count * roundMs) / 5_000;
    // Many more than that follow changes of verdicts: the machine is too busy for the probes.
    if (answered < due * 0.9 || answered > due * 1.2)
      throw new Error(`Cannot measure the audit: ${due} backends must be read in the rounds, got ${answered}`);
    const each = (key: "audited" | "plain"): string => show(median(shares.map((share) => share[key])));
    return [
      {
        name: `percent of a core to audit ${show(clusters * nodes)} servers of ${haproxies} HAProxies every 5 s`,
        figure: median(shares.map((share) => share.audited - share.plain)),
        bound: { atMost: 2 },
        detail: `${each("audited")} % with the audit, ${each("plain")} % without; ${show(answered)} backends read in ${count} rounds, differences ${shares.map((share) => show(share.audited - share.plain)).join(", ")}`,
      },
    ];
  },
};
