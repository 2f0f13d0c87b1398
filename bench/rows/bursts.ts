import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Cluster } from "../../test/real/lab/cluster.ts";
import { ask } from "../../test/real/lab/ask.ts";
import type { PatroniNode } from "../../test/real/lab/patroni.ts";
import { missingProgram, patroni3 } from "../../test/real/lab/versions.ts";
import { until } from "../../test/fake/until.ts";
import { cpuMsOf } from "../process-stats.ts";
import { pause } from "../rolecall.ts";
import type { Row, RowMaker } from "../row.ts";

/** A probe a second, a burst of a cluster, and a burst of a named node. */
const rates = [1, 4, 20] as const;
/** How long each rate is measured, in seconds, for each second of a round. */
const stretch = 3;

/** What one second of probes at a rate costs a node. */
interface Cost {
  readonly cpuMs: number;
  readonly statements: number;
  readonly replicationConnections: number;
}

/** What bursts cost a replica of a real Patroni cluster: while a leader holds the lock, and while nobody does. */
export const costOfBursts: RowMaker = {
  name: "bursts",
  async run({ seconds }) {
    const found = patroni3();
    const missing = missingProgram();
    const notRun = missing === undefined ? ("notRun" in found ? found.notRun : null) : `${missing} is missing`;
    if (notRun !== null || "notRun" in found) return [{ name: "bursts", notRun: notRun ?? "" }];
    const cluster = await Cluster.start(found.command);
    try {
      await cluster.streaming();
      const node = await replicaThatStays(cluster);
      const led = await costs(cluster, node, seconds * stretch);
      await unlock(cluster, node);
      const unlocked = await costs(cluster, node, seconds * stretch);
      return [...rowsFor("with a leader", led), ...rowsFor("without one", unlocked)];
    } finally {
      await cluster.stop();
    }
  },
};

function rowsFor(state: string, [idle, ...bursts]: readonly Cost[]): readonly Row[] {
  const per = ({ cpuMs, statements, replicationConnections }: Cost): string =>
    `${cpuMs.toFixed(1)} ms, ${statements.toFixed(1)} statements, ` +
    `${replicationConnections.toFixed(1)} replication connections a second`;
  if (idle === undefined) return [];
  return bursts.map((burst, at) => ({
    name: `bursts: CPU of a replica's Patroni at ${rates[at + 1] ?? 0} probes/s relative to one, in a cluster ${state}`,
    figure: burst.cpuMs / idle.cpuMs,
    bound: null,
    detail: `${per(burst)}, against ${per(idle)}`,
  }));
}

/** Makes replication synchronous. @returns the replica that is not synchronous: it may not be promoted */
async function replicaThatStays(cluster: Cluster): Promise<PatroniNode> {
  await cluster.configure({
    synchronous_mode: true,
    postgresql: { parameters: { log_connections: "on", log_statement: "all" } },
  });
  return until({ what: "one asynchronous replica", seconds: 40 }, async () => {
    const replicas = await cluster.replicas();
    const statuses = await Promise.all(replicas.map(async (node) => (await node.ask("/sync")).status));
    return statuses.includes(200) ? replicas[statuses.findIndex((status) => status !== 200)] : undefined;
  });
}

/** Kills the leader and the synchronous replica, and waits until the lock has expired. */
async function unlock(cluster: Cluster, node: PatroniNode): Promise<void> {
  await Promise.all(cluster.nodes.filter((other) => other !== node).map((other) => other.kill()));
  await until({ what: "an unlocked cluster", seconds: 60 }, async () =>
    (await node.ask("/patroni")).body.includes('"cluster_unlocked": true'),
  );
}

async function costs(cluster: Cluster, node: PatroniNode, seconds: number): Promise<readonly Cost[]> {
  const log = join(cluster.folder, `${node.name}.log`);
  const found: Cost[] = [];
  for (const rate of rates) {
    const before = reading(node, log);
    for (let sent = 0; sent < rate * seconds; sent += 1) {
      const startedMs = performance.now();
      await ask({ port: node.apiPort, path: "/leader" });
      await pause(Math.max(0, 1_000 / rate - (performance.now() - startedMs)));
    }
    const after = reading(node, log);
    const perSecond = (of: (counted: Cost) => number): number => (of(after) - of(before)) / seconds;
    found.push({
      cpuMs: perSecond(({ cpuMs }) => cpuMs),
      statements: perSecond(({ statements }) => statements),
      replicationConnections: perSecond(({ replicationConnections }) => replicationConnections),
    });
  }
  return found;
}

/** Reads what a node has used so far. Its log has every statement and every connection. */
function reading({ pid }: PatroniNode, log: string): Cost {
  const lines = readFileSync(log, "utf8");
  const countOf = (text: string): number => lines.split(text).length - 1;
  return {
    cpuMs: cpuMsOf([pid]),
    statements: countOf(" statement: "),
    replicationConnections: countOf("replication connection authorized"),
  };
}
