/** What a member of a fleet costs, against one instance that probes all nodes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../test/fake/free-port.ts";
import { until } from "../../test/fake/until.ts";
import { missingEtcd, startEtcd } from "../etcd.ts";
import { type ServedNodes, serveNodes } from "../nodes.ts";
import { pause, Rolecall } from "../rolecall.ts";
import type { Row, RowMaker } from "../row.ts";
import { median, show } from "../statistics.ts";

/**
 * Each process that serves nodes has a file open for each of them and up to two for each instance that asks it, nine in
 * all, and may have some 20,000.
 */
const clustersPerProcess = 100;
const clusters = 2 * clustersPerProcess;
const nodes = 20;
const members = 4;
/** Two cores hold four members if nodes are asked less often than usual. */
const intervalS = 4;
const probe = { interval: `${intervalS}s`, timeout: "1s", max_age: `${intervalS * 5.5}s`, cluster_interval: "20s" };
const roundMs = 8_000;

/** What instances over the same nodes cost. */
interface Cost {
  /** Of one instance, in microseconds for each node and interval. */
  readonly microseconds: number;
  readonly residentMb: number;
  /** How often each node was asked by all of them, times an interval. */
  readonly asked: number;
}

/** Four members that serve 4,000 nodes, each of which owns a quarter and follows the rest, and one instance alone. */
export const costOfFleet: RowMaker = {
  name: "fleet",
  async run({ count }) {
    const name = "processor time of a member of a fleet of four, times that of one instance alone";
    const notRun = missingEtcd();
    if (notRun !== null) return [{ name, notRun }];
    const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-"));
    try {
      const rows: Row[] = [];
      const etcd = await startEtcd(folder);
      for (const motion of ["moving", "still"] as const) {
        const served = await serveAll(motion);
        const alone = await costOf(served, [await Rolecall.start(served.clusters, { probe }, anywhere)], count);
        const shared = await costOf(served, await startMembers(served, etcd.url, motion), count);
        await served.stop();
        rows.push({
          name: `${name}: ${show(clusters * nodes)} nodes, positions ${motion}`,
          figure: shared.microseconds / alone.microseconds,
          bound: null,
          detail:
            `${show(shared.microseconds)} microseconds for each node and interval against ${show(alone.microseconds)}; ` +
            `${show(shared.residentMb)} MB against ${show(alone.residentMb)} MB; ` +
            `each node was asked ${show(shared.asked)} times an interval by all, ${show(alone.asked)} by one`,
        });
      }
      await etcd.process.stop();
      return rows;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Serves the first half of the clusters in one process, and the second in another one. */
async function serveAll(motion: "moving" | "still"): Promise<Pick<ServedNodes, "clusters" | "answers" | "stop">> {
  const options = {
    by: "constant",
    clusters: clustersPerProcess,
    nodes,
    connections: "keep",
    motion,
    core: "any",
  } as const;
  const halves = [await serveNodes(options), await serveNodes({ ...options, first: clustersPerProcess })];
  return {
    clusters: halves.flatMap((half) => half.clusters),
    answers: async () => {
      const counts = await Promise.all(halves.map((half) => half.answers()));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    stop: async () => {
      for (const half of halves) await half.stop();
    },
  };
}

const anywhere = { core: "any", readyS: 120 } as const;

/** Starts members one after another, and waits until each owns about its share. */
async function startMembers(
  served: Pick<ServedNodes, "clusters">,
  etcd: string,
  name: string,
): Promise<readonly Rolecall[]> {
  const started: Rolecall[] = [];
  for (let at = 0; at < members; at += 1) {
    const adminPort = await freePort();
    const fleet = { name, advertise: `http://127.0.0.1:${adminPort}`, etcd: { urls: [etcd] } };
    started.push(await Rolecall.start(served.clusters, { probe, fleet }, { ...anywhere, adminPort }));
  }
  const least = (clusters / members) * 0.7;
  await until({ what: "an owner of each cluster, and shares alike", seconds: 120 }, async () => {
    const owned = (await started[0]?.ownedCounts()) ?? [];
    return owned.reduce((sum, each) => sum + each, 0) === clusters && owned.every((each) => each >= least);
  });
  return started;
}

/** Measures what instances cost, and stops them. */
async function costOf(
  served: Pick<ServedNodes, "answers">,
  instances: readonly Rolecall[],
  count: number,
): Promise<Cost> {
  await pause(20_000);
  const rounds: number[] = [];
  const [answers, beganMs] = [await served.answers(), performance.now()];
  for (let round = 0; round < count; round += 1) {
    const read = (): number => instances.reduce((sum, { process }) => sum + process.cpuMs(), 0);
    const [firstMs, fromMs] = [read(), performance.now()];
    await pause(roundMs);
    const intervals = (performance.now() - fromMs) / 1_000 / intervalS;
    rounds.push(((read() - firstMs) * 1_000) / instances.length / intervals / (clusters * nodes));
  }
  const intervals = (performance.now() - beganMs) / 1_000 / intervalS;
  const asked = ((await served.answers()) - answers) / intervals / (clusters * nodes);
  const residentMb = median(instances.map(({ process }) => process.residentMb()));
  for (const instance of instances) await instance.stop();
  return { microseconds: median(rounds), residentMb, asked };
}
