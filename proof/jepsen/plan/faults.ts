/** Injects one fault of a plan into the running machines, and heals it again. */
import { freeze, freezeBackend, freezeMachine } from "../../../test/real/lab/freeze.ts";
import type { PatroniNode } from "../../../test/real/lab/patroni.ts";
import { childrenOf } from "../../../test/real/lab/processes.ts";
import { signal } from "../../../test/real/lab/reaper.ts";
import {
  balancerNames,
  edgeNames,
  etcdNames,
  type MachineName,
  memberOf,
  type NodeName,
  nodeNames,
} from "../machines/addresses.ts";
import { fakeClockLibrary, setClock } from "../machines/clocks.ts";
import type { JepsenCluster } from "../machines/cluster.ts";
import type { RolecallEdge } from "../machines/edges.ts";
import type { EtcdMember } from "../machines/etcd-member.ts";
import { fill } from "../machines/disks.ts";
import { cut, slow, unplug } from "../machines/network.ts";
import { waysOf } from "./partitions.ts";
import type { FaultKind, PlannedFault } from "./plan.ts";

/** The machines, and who leads. */
export interface Scene {
  readonly cluster: JepsenCluster;
  /** The node that answers that it holds the lock; undefined if none does. */
  readonly leader: () => Promise<NodeName | undefined>;
  /** Asks Patroni for a switchover. @returns what went wrong; undefined: it accepted */
  readonly switchOver: (from: NodeName, to: NodeName) => Promise<string | undefined>;
  /** Machines that a fault of each group has at this moment. */
  readonly taken: Set<string>;
}

export interface Injected {
  readonly target: string;
  readonly heal: () => void | Promise<void>;
}

/** A fault that could not be injected, and why. */
export interface NotInjected {
  readonly target: string;
  readonly notRun: string;
}

/** Injects a fault. Two faults of one group never have the same machine at once. */
export async function inject(fault: PlannedFault, scene: Scene): Promise<Injected | NotInjected> {
  const target = await targetOf(fault, scene);
  const group = `${/^(?:kill|freeze|disk)/.test(fault.kind) ? "process" : (fault.kind.split("-")[0] ?? "")}:${target}`;
  if (scene.taken.has(group)) return { target, notRun: "the machine has such a fault already" };
  if (fault.kind.startsWith("clock-") && fakeClockLibrary === undefined)
    return { target, notRun: "the package faketime is not installed" };
  scene.taken.add(group);
  try {
    const heal = await start(fault, target, scene);
    const end = async (): Promise<void> => {
      await heal();
      scene.taken.delete(group);
    };
    return { target, heal: end };
  } catch (error) {
    scene.taken.delete(group);
    return { target, notRun: error instanceof Error ? error.message : String(error) };
  }
}

async function targetOf({ kind, role, number }: PlannedFault, { leader }: Scene): Promise<MachineName> {
  if (["kill-etcd", "freeze-etcd", "cut-etcd", "slow-etcd"].includes(kind)) return etcdNames[number] ?? "e1";
  if (/rolecall/.test(kind) && !kind.startsWith("cut-balancer")) return edgeNames[number % 2] ?? "r1";
  if (kind.startsWith("cut-balancer")) return balancerNames[number % 2] ?? "b1";
  const chosen = nodeNames[number] ?? "p1";
  // Replicas alone receive and replay WAL, and only they can be promoted.
  const wanted = ["freeze-receiver", "freeze-replay", "switchover"].includes(kind) ? "replica" : role;
  const holder = wanted === "any" ? undefined : await leader();
  if (holder === undefined) return chosen;
  if (wanted === "leader") return holder;
  return chosen === holder ? (nodeNames[(number + 1) % 3] ?? "p1") : chosen;
}

type Heal = Injected["heal"];

/** A fault, its machine and the scene. */
interface Case {
  readonly fault: PlannedFault;
  readonly target: MachineName;
  readonly scene: Scene;
}

function start(fault: PlannedFault, target: MachineName, scene: Scene): Promise<Heal> | Heal {
  if (fault.kind.startsWith("cut-")) return cut(waysOf(fault, target));
  const begin = kinds[fault.kind];
  if (begin === undefined) throw new Error(`Cannot inject ${fault.kind}: no such fault`);
  return begin({ fault, target, scene });
}

const slowed = ({ target, fault }: Case): Promise<Heal> => slow(target, Math.round(20 + 480 * fault.amount ** 2));

/** How each kind begins. What a function returns heals it. */
const kinds: Partial<Record<FaultKind, (fault: Case) => Promise<Heal> | Heal>> = {
  "unplug-node": ({ target }) => unplug(target),
  "slow-node": slowed,
  "slow-etcd": slowed,
  "slow-rolecall": slowed,
  "clock-patroni": (one) => stepClock(one.scene.cluster.clockOf(one.target as NodeName), one.fault.amount),
  "clock-rolecall": (one) => stepClock(edgeOf(one).clockFile, one.fault.amount),
  "freeze-rolecall": (one) => freeze(edgeOf(one).pid),
  "freeze-etcd": (one) => freeze(memberAt(one).pid),
  "freeze-node": (one) => freezeMachine(postmasterOf(one), nodeOf(one).pid),
  "freeze-patroni": (one) => freeze(nodeOf(one).pid),
  "freeze-postgres": (one) => freezeMachine(postmasterOf(one)),
  "freeze-receiver": (one) => freezeBackend(postmasterOf(one), "walreceiver"),
  "freeze-replay": (one) => freezeBackend(postmasterOf(one), "startup"),
  "disk-full": ({ scene, target }) => fill(scene.cluster.diskOf(target as NodeName)),
  "kill-rolecall": async (one) => {
    await edgeOf(one).stop();
    return () => edgeOf(one).start();
  },
  "kill-etcd": async (one) => {
    await memberAt(one).kill();
    return () => memberAt(one).start();
  },
  "kill-node": async (one) => {
    await nodeOf(one).kill();
    return () => nodeOf(one).start();
  },
  "kill-patroni": async (one) => {
    await nodeOf(one).killPatroni();
    return () => nodeOf(one).start();
  },
  "kill-postgres": (one) => {
    const postmaster = postmasterOf(one);
    for (const pid of [postmaster, ...childrenOf(postmaster).map((child) => child.pid)]) signal(pid, "SIGKILL");
    return () => {}; // Patroni starts it again
  },
  switchover: async ({ scene, target }) => {
    const [from, to] = [await scene.leader(), target as NodeName];
    if (from === undefined || from === to) throw new Error("Cannot switch over: no leader, or the candidate leads");
    const problem = await scene.switchOver(from, to);
    if (problem !== undefined) throw new Error(`Cannot switch over to ${memberOf(to)}: ${problem}`);
    return () => {};
  },
};

/** By up to ten minutes, forward or backward. Healing sets it right again, which is a step too. */
function stepClock(file: string, amount: number): () => void {
  setClock(file, Math.round((amount - 0.5) * 1_200));
  return () => setClock(file, 0);
}

function nodeOf({ scene, target }: Case): PatroniNode {
  return scene.cluster.node(target as NodeName);
}

function postmasterOf(one: Case): number {
  const { postmaster } = nodeOf(one);
  if (postmaster === undefined) throw new Error(`Cannot fault PostgreSQL of ${one.target}: it does not run`);
  return postmaster;
}

function edgeOf({ scene, target }: Case): RolecallEdge {
  const edge = scene.cluster.edges.find(({ name }) => name === target);
  if (edge === undefined) throw new Error(`Cannot find the instance ${target} of rolecall`);
  return edge;
}

function memberAt({ scene, target }: Case): EtcdMember {
  const member = scene.cluster.etcd.find(({ name }) => name === target);
  if (member === undefined) throw new Error(`Cannot find the member ${target} of etcd`);
  return member;
}
