/** Storms of checks, held against servers in C that return a constant of the same size. */
import { blow, middle, middleRatio, type Blow } from "../blow.ts";
import { show } from "../figure.ts";
import { stormMaker, tail } from "../load.ts";
import { serveNodes } from "../nodes.ts";
import { startHaproxy, startNginx, type Peer } from "../peers.ts";
import { family } from "../proc.ts";
import { Rolecall } from "../rolecall.ts";
import { interleave, type Row, type RowMaker } from "../row.ts";
import { sweepRate, sweepRows } from "../sweep.ts";

const connections = 64;

/** Keep-alive and new connections, against nginx and HAProxy. */
export const againstConstants: RowMaker = {
  word: "storms",
  async run(rounds) {
    const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "close" });
    const rolecall = await Rolecall.start(nodes.clusters);
    const url = rolecall.url("/primary");
    const body = await (await fetch(url)).text();
    const peers = { nginx: await startNginx(body), haproxy: await startHaproxy(body) };
    try {
      const rows: Row[] = [];
      const here = Object.entries(peers).flatMap(([name, peer]) => ("notRun" in peer ? [] : [{ name, peer }]));
      for (const isNew of [false, true]) {
        const how = isNew ? "new connections" : "kept connections";
        for (const [name, peer] of Object.entries(peers))
          if ("notRun" in peer) rows.push({ name: `answers/s, times ${name}'s constant: ${how}`, notRun: peer.notRun });
        const [ours = [], ...theirs] = await interleave(rounds, [
          (seconds) => blow(family(rolecall.process.pid), { url, seconds, connections, isNew }),
          ...here.map(
            ({ peer }) =>
              (seconds: number) =>
                blow(family(peer.process.pid), { url: peer.url, seconds, connections, isNew }),
          ),
        ]);
        for (const [at, { name }] of here.entries())
          rows.push(...against(name, isNew, { ours, theirs: theirs[at] ?? [] }));
        if (!isNew) rows.push(costOfKept(ours));
      }
      return rows;
    } finally {
      await rolecall.stop();
      for (const peer of Object.values(peers)) await stopPeer(peer);
      await nodes.stop();
    }
  },
};

/** The tail at 20,000 checks a second while 1,000 nodes are probed every second, all in one process. */
export const tailBesideSweep: RowMaker = {
  word: "sweep",
  async run({ seconds }) {
    const nodes = await serveNodes({ by: "constant", clusters: 200, nodes: 5, connections: "close", motion: "moving" });
    const rolecall = await Rolecall.start(nodes.clusters);
    try {
      const found = await tail(rolecall.url("/primary"), { rate: sweepRate, seconds: Math.min(8, seconds * 2) });
      return sweepRows(found, "1,000 nodes probed, one process");
    } finally {
      await rolecall.stop();
      await nodes.stop();
    }
  },
};

function against(
  name: string,
  isNew: boolean,
  { ours, theirs }: { readonly ours: readonly Blow[]; readonly theirs: readonly Blow[] },
): Row[] {
  const [mine, other] = [middle(ours), middle(theirs)];
  const how = isNew ? "new connections" : "kept connections";
  const promised = { atLeast: isNew ? 0.9 : 0.75 };
  return [
    {
      name: `answers/s, times ${name}'s constant: ${how}`,
      figure: middleRatio(ours, theirs, "answersPerSecond"),
      bound: name === "nginx" ? promised : null,
      detail: `${show(mine.answersPerSecond)} against ${show(other.answersPerSecond)} /s by ${stormMaker()}`,
    },
    {
      name: `CPU of an answer, times ${name}'s: ${how}`,
      figure: middleRatio(ours, theirs, "microseconds"),
      bound: null,
      detail: `${show(mine.microseconds)} against ${show(other.microseconds)} microseconds`,
    },
  ];
}

function costOfKept(ours: readonly Blow[]): Row {
  return {
    name: "CPU microseconds of a keep-alive answer",
    figure: middle(ours).microseconds,
    bound: { atMost: 10 },
    detail: "whole process, probing of 3 nodes included",
  };
}

async function stopPeer(peer: Peer | { readonly notRun: string }): Promise<void> {
  if (!("notRun" in peer)) await peer.stop();
}
