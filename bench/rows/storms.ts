/** Storms of checks, held against servers in C that return a constant of the same size. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, show } from "../figure.ts";
import { storm, stormMaker, tails, type Storm } from "../load.ts";
import { serveNodes } from "../nodes.ts";
import { startHaproxy, startNginx } from "../peers.ts";
import { Rolecall } from "../rolecall.ts";
import { interleave, type Row, type RowMaker } from "../row.ts";
import type { Started } from "../started.ts";

/** What one storm did: answers a second, and the processor time of one, in microseconds. */
interface Blow {
  readonly answersPerSecond: number;
  readonly microseconds: number;
}

/** Keep-alive and new connections, against nginx and HAProxy. */
export const againstConstants: RowMaker = {
  word: "storms",
  async run(rounds) {
    const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "close" });
    const rolecall = await Rolecall.start(nodes.clusters);
    const body = await (await fetch(rolecall.url("/primary"))).text();
    const peers = { nginx: await startNginx(body), haproxy: await startHaproxy(body) };
    const rows: Row[] = [];
    try {
      for (const isNew of [false, true]) {
        for (const [name, peer] of Object.entries(peers)) {
          const what = `answers/s, times ${name}'s constant: ${isNew ? "new connections" : "kept connections"}`;
          if ("notRun" in peer) {
            rows.push({ name: what, notRun: peer.notRun });
            continue;
          }
          const [ours = [], theirs = []] = await interleave(rounds, [
            (seconds) => blow(rolecall.process, { url: rolecall.url("/primary"), seconds, connections: 64, isNew }),
            (seconds) => blow(peer.process, { url: peer.url, seconds, connections: 64, isNew }),
          ]);
          const [mine, other] = [middle(ours), middle(theirs)];
          const bound = name === "nginx" ? { atLeast: isNew ? 0.9 : 0.75 } : null;
          const detail = `${show(mine.answersPerSecond)} against ${show(other.answersPerSecond)} /s by ${stormMaker()}; CPU ${show(mine.microseconds)} against ${show(other.microseconds)} microseconds an answer`;
          rows.push({ name: what, figure: mine.answersPerSecond / other.answersPerSecond, bound, detail });
          if (!isNew && name === "nginx") {
            rows.push({
              name: "CPU microseconds of a keep-alive answer",
              figure: mine.microseconds,
              bound: { atMost: 10 },
              detail: "whole process, probing of 3 nodes included",
            });
          }
        }
      }
      return rows;
    } finally {
      await rolecall.stop();
      for (const peer of Object.values(peers)) if (!("notRun" in peer)) await peer.stop();
      await nodes.stop();
    }
  },
};

/** Storms that are not all alike (wrk cannot read the answer to a HEAD), against the plain keep-alive storm of the same run. */
export const mixedStorms: RowMaker = {
  word: "mixed",
  async run(rounds) {
    if (stormMaker() !== "wrk") return [{ name: "mixed storms, times the plain one", notRun: "package wrk is not installed" }];
    const nodes = await serveNodes({ by: "constant", clusters: 1, nodes: 3, connections: "close", motion: "moving" });
    const rolecall = await Rolecall.start(nodes.clusters);
    const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-"));
    const script = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const path = new URL(rolecall.url("/primary")).pathname;
    const methods = script(
      "methods.lua",
      `local m={"GET","OPTIONS"} local i=0 request=function() i=i%2+1 return wrk.format(m[i],"${path}") end\n`,
    );
    const queries = script(
      "queries.lua",
      `local i=0 request=function() i=(i+1)%1000 return wrk.format("GET","${path.replace("primary", "replica")}?lag="..(1000000+i)) end\n`,
    );
    const base = { url: rolecall.url("/primary"), connections: 64 };
    try {
      const [plain = [], mixed = [], thousand = []] = await interleave(rounds, [
        (seconds) => blow(rolecall.process, { ...base, seconds }),
        (seconds) => blow(rolecall.process, { ...base, seconds, script: methods }),
        (seconds) => blow(rolecall.process, { ...base, seconds, script: queries }),
      ]);
      const row = (name: string, blows: readonly Blow[]): Row => ({
        name: `answers/s, times the plain storm: ${name}`,
        figure: middle(blows).answersPerSecond / middle(plain).answersPerSecond,
        bound: null,
        detail: `${show(middle(blows).answersPerSecond)} against ${show(middle(plain).answersPerSecond)} /s`,
      });
      return [row("GET and OPTIONS", mixed), row("1,000 distinct queries", thousand)];
    } finally {
      await rolecall.stop();
      await nodes.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** The tail at 20,000 checks a second while 1,000 nodes are probed every second. */
export const tailBesideSweep: RowMaker = {
  word: "sweep",
  async run({ seconds }) {
    const nodes = await serveNodes({ by: "constant", clusters: 200, nodes: 5, connections: "close", motion: "moving" });
    const rolecall = await Rolecall.start(nodes.clusters);
    try {
      const found = await tails(rolecall.url("/primary"), { rate: 20_000, seconds: Math.min(8, seconds * 2) });
      return found.flatMap(({ by, p99, p999, worst, answersPerSecond }) => {
        const detail = `${show(answersPerSecond)} answers/s, worst ${show(worst)} ms`;
        const name = (tail: string): string => `${tail} in ms at 20,000/s, 1,000 nodes probed (${by})`;
        // autocannon's own pauses are in its tail: only h2load's is held to the bound.
        const bound = (atMost: number): { readonly atMost: number } | null => (by === "h2load" ? { atMost } : null);
        return [
          { name: name("p99"), figure: p99, bound: bound(2), detail },
          { name: name("p99.9"), figure: p999, bound: bound(10), detail },
        ];
      });
    } finally {
      await rolecall.stop();
      await nodes.stop();
    }
  },
};

async function blow(process: Started, asked: Storm): Promise<Blow> {
  const before = process.cpuMs();
  const { answersPerSecond } = await storm(asked);
  return { answersPerSecond, microseconds: ((process.cpuMs() - before) * 1_000) / (answersPerSecond * asked.seconds) };
}

function middle(blows: readonly Blow[]): Blow {
  return {
    answersPerSecond: median(blows.map((each) => each.answersPerSecond)),
    microseconds: median(blows.map((each) => each.microseconds)),
  };
}
