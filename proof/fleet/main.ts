/**
 * `npm run fleet`: edges of one fleet on a real etcd, over simulated clusters and a real one. Measures how often nodes
 * are asked, what the edges answer while edges and etcd fail, and how long after its owner an edge knows a new primary.
 * proof/README.md says what must hold.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Cluster } from "../../test/real/lab/cluster.ts";
import { EtcdMembers } from "../../test/real/lab/etcd-members.ts";
import { type FleetEdge, FleetEdges } from "../../test/real/lab/fleet-edges.ts";
import { patroni3 } from "../../test/real/lab/versions.ts";
import { longestSilenceMs, Sightings } from "./measures.ts";

const { values } = parseArgs({
  options: {
    edges: { type: "string", default: "5" },
    clusters: { type: "string", default: "99" },
    switchovers: { type: "string", default: "5" },
    kills: { type: "string", default: "3" },
    "etcd-down": { type: "string", default: "60" },
  },
});
const [edgeCount, switchovers, kills] = [Number(values.edges), Number(values.switchovers), Number(values.kills)];
const ends: (() => unknown)[] = [];
const ending = { after: (end?: (...args: never[]) => unknown) => void ends.push(() => end?.()) };
let broken = 0;

const patroni = patroni3();
if ("notRun" in patroni) throw new Error(`Cannot run the proof: ${patroni.notRun}`);
const cluster = await Cluster.start(patroni.command);
ends.push(() => cluster.stop());
try {
  await prove();
} finally {
  for (const end of ends.toReversed()) await end();
}
process.exitCode = broken === 0 ? 0 : 1;

async function prove(): Promise<void> {
  const etcd = await EtcdMembers.start({ count: 1 });
  ends.push(() => etcd.stop());
  const nodes = cluster.nodes.map(({ name, url }) => ({ name, api: url }));
  const fleet = await FleetEdges.open(ending, etcd.urls, {
    count: Number(values.clusters),
    intervalMs: 1_000,
    others: [{ name: "real", scope: "demo", nodes }],
  });
  for (let at = 0; at < edgeCount; at += 1) await fleet.start();
  await fleet.settle("at the start");
  await sleep(15_000); // those that came last get their share
  tell("each node is asked, times an interval", (await fleet.probesPerNode(30_000)).toFixed(3), "1.0 to 1.1");
  await measureDelays(fleet);
  const [first, second, ...left] = fleet.edges;
  if (first === undefined || second === undefined) return;
  await during("an edge is killed", fleet, [second, ...left], async () => {
    first.process.process.kill("SIGKILL");
    await sleep(12_000);
  });
  await during("another edge stands still for 10 s", fleet, left, async () => {
    second.process.process.kill("SIGSTOP");
    await sleep(10_000);
    second.process.process.kill("SIGCONT");
    await sleep(5_000);
  });
  await during(`etcd is down for ${values["etcd-down"]} s`, fleet, [second, ...left], async () => {
    await etcd.kill(0);
    await sleep(5_000);
    tell("each node is asked while etcd is down", (await fleet.probesPerNode(10_000)).toFixed(3), "1.0 to 1.1");
    await sleep(Math.max(0, Number(values["etcd-down"]) * 1_000 - 15_000));
    await etcd.again(0);
    await sleep(10_000);
  });
  tell("each node is asked at the end", (await fleet.probesPerNode(20_000)).toFixed(3), "1.0 to 1.1");
}

/** Runs a fault. Says what some edges answered wrongly meanwhile, and how long no node of a cluster was asked. */
async function during(
  what: string,
  fleet: FleetEdges,
  edges: readonly FleetEdge[],
  fault: () => Promise<void>,
): Promise<void> {
  const watch = fleet.watch(edges);
  const silence = longestSilenceMs(() => fleet.statuses());
  await fault();
  const [wrong, silentMs] = [await watch.end(), await silence.end()];
  broken += wrong.length;
  tell(`${what}: wrong answers of ${watch.count()}`, String(wrong.length), "0");
  for (const one of wrong.slice(0, 5)) console.log(`  ${one}`);
  tell("  longest time in which nobody asked a node of some cluster, in ms", silentMs.toFixed(0), "3000");
}

async function measureDelays(fleet: FleetEdges): Promise<void> {
  const sightings = new Sightings(
    fleet.edges.map(({ url }) => `${url}/clusters/real`),
    cluster.nodes.map(({ name }) => name),
  );
  const change = async (act: () => Promise<void>): Promise<void> => {
    await cluster.whole();
    await cluster.streaming();
    await sleep(2_000);
    sightings.begin();
    await act();
    await cluster.leader();
    await sleep(3_000);
    sightings.end();
  };
  const running = sightings.watch();
  for (let at = 0; at < switchovers; at += 1)
    await change(async () => {
      const [candidate] = await cluster.replicas();
      if (candidate !== undefined) await cluster.switchOver(candidate);
    });
  for (let at = 0; at < kills; at += 1) {
    const killed = await cluster.leader();
    await change(() => killed.kill());
    killed.start();
  }
  sightings.stop();
  await running;
  const { delaysMs, lonely } = sightings;
  const at = (share: number): string => (delaysMs[Math.ceil(delaysMs.length * share) - 1] ?? NaN).toFixed(0);
  tell(
    `a yes to a new primary after the first edge, ${switchovers} switchovers and ${kills} kills, ${delaysMs.length} delays, in ms`,
    `p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`,
    "p99 50",
  );
  tell("changes that some edge never saw", String(lonely), "0");
}

function tell(what: string, figure: string, bound: string): void {
  console.log(`${what}: ${figure} (bound ${bound})`);
}
