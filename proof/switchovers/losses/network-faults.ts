/** Load while the network between rolecall and the nodes fails, and nothing else: nobody is lost, and nobody may be held. */
import { setTimeout as sleep } from "node:timers/promises";
import { Cluster } from "../../../test/real/lab/cluster.ts";
import { noLocks, type PatroniNode } from "../../../test/real/lab/patroni.ts";
import { Lab } from "../lab.ts";
import { worstWait } from "../waits.ts";
import { type CutWays, NodeNetwork } from "./node-network.ts";

/** One fault: which nodes rolecall does not reach, in which direction, for how long. */
export interface NetworkFault {
  readonly nodes: "leader" | "replica" | "all";
  readonly ways: CutWays;
  readonly lastsMs: number;
}

const nodesOf = ["leader", "all", "replica"] as const;
const waysOf = ["both", "to", "from"] as const;
/** Shorter than what a primary is accepted for without news, about as long, and longer; in ms. */
const lengthsMs = [2_000, 6_000, 12_000, 25_000] as const;

/** Each kind of nodes with each direction, and each length in turn. @param count a whole number from 1 */
export function networkFaultsOf(count: number): readonly NetworkFault[] {
  return Array.from({ length: count }, (_, at) => ({
    nodes: nodesOf[at % nodesOf.length] ?? "leader",
    ways: waysOf[Math.floor(at / nodesOf.length) % waysOf.length] ?? "both",
    lastsMs: lengthsMs[at % lengthsMs.length] ?? lengthsMs[0],
  }));
}

/** What the load met. */
export interface NetworkFaultsResult {
  readonly text: string;
  readonly broken: readonly string[];
}

const clients = 12;
/** Least rest after each fault, in ms. */
const restMs = 5_000;

/** Plays the faults at even distances. @param seconds how long the load lasts; at least as long as the faults take */
export async function playNetworkFaults(
  { patroni, pgbouncer }: { readonly patroni: readonly [string, ...string[]]; readonly pgbouncer: string },
  { count, seconds }: { readonly count: number; readonly seconds: number },
  onFault: (line: string) => void,
): Promise<NetworkFaultsResult> {
  const network = new NodeNetwork();
  let [cluster, lab]: [Cluster | undefined, Lab | undefined] = [undefined, undefined];
  try {
    cluster = await Cluster.start(patroni, false, noLocks, () => () => {}, network);
    lab = await Lab.start({ patroni: cluster, pgbouncer, route: "file", pooler: { hold_on_loss: "60s" } });
    return await playAll({ lab, network, count, seconds }, onFault);
  } finally {
    await lab?.stop();
    await cluster?.stop();
    network.stop();
  }
}

interface Played {
  readonly lab: Lab;
  readonly network: NodeNetwork;
  readonly count: number;
  readonly seconds: number;
}

async function playAll(
  { lab, network, count, seconds }: Played,
  onFault: (line: string) => void,
): Promise<NetworkFaultsResult> {
  const leader = await lab.settled(60);
  const load = lab.load(clients);
  const startedMs = performance.now();
  const lostPrimary = (): number => countOf(lab.rolecall.log, '"event":"primary_lost"');
  let played = 0;
  for (const [at, fault] of networkFaultsOf(count).entries()) {
    await sleep(Math.max(restMs, startedMs + (at * seconds * 1_000) / count - performance.now()));
    if (performance.now() - startedMs + fault.lastsMs > seconds * 1_000) break;
    const restore = network.cutRolecall(nodesCut(lab.cluster.nodes, leader, fault), fault.ways);
    await sleep(fault.lastsMs);
    restore();
    played += 1;
    onFault(
      `${fault.nodes}, ${fault.ways}, ${fault.lastsMs / 1_000} s: ${load.failed} failed so far, ${heldOf(lab)} holds`,
    );
  }
  await sleep(Math.max(restMs, startedMs + seconds * 1_000 - performance.now()));
  await load.stop();
  const { acknowledged } = load.window;
  const now = await lab.settled(60);
  const audit = await load.audit(now.databasePort);
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
  const broken = [
    ...(heldOf(lab) > 0 ? [`nobody may be held, got ${heldOf(lab)} holds`] : []),
    ...(load.failed > 0 ? [`no transaction may fail, got ${load.failed}`] : []),
    ...(now === leader ? [] : [`${leader.name} must lead to the end, got ${now.name}`]),
    ...audit.lost.map((row) => `${row} is lost`),
    ...audit.doubled.map((row) => `${row} is there twice`),
  ];
  const longestMs = Math.round(worstWait(load.window).waitMs);
  const text =
    `${played} faults in ${minutes} minutes, ${acknowledged.length} transactions: ${load.failed} failed, longest wait ` +
    `${longestMs} ms, ${heldOf(lab)} holds; the primary was lost from sight ${lostPrimary()} times`;
  return { text, broken };
}

function nodesCut(nodes: readonly PatroniNode[], leader: PatroniNode, fault: NetworkFault): readonly PatroniNode[] {
  if (fault.nodes === "all") return nodes;
  const replicas = nodes.filter((node) => node !== leader);
  return fault.nodes === "leader" ? [leader] : replicas.slice(0, 1);
}

function heldOf(lab: Lab): number {
  return countOf(lab.rolecall.log, '"hold_began"');
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}
