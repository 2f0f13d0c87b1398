/** What a partition drops. Pure. Clients and the observer are never cut off from anybody. */
import { type EdgeName, edgeNames, etcdNames, type MachineName, nodeNames } from "../machines/addresses.ts";
import type { Way } from "../machines/network.ts";
import type { FaultKind, PlannedFault } from "./plan.ts";

/** The ways between a machine and those it is cut off from, in the direction of the fault. */
export function waysOf({ kind, direction, number }: PlannedFault, target: MachineName): readonly Way[] {
  const others = (peers[kind]?.(target, number) ?? []).filter((one) => one !== target);
  const out = others.map((to) => ({ from: target, to }));
  const into = others.map((from) => ({ from, to: target }));
  return [...(direction === "in" ? [] : out), ...(direction === "out" ? [] : into)];
}

const edgeOfBalancer = (balancer: MachineName): EdgeName => (balancer === "b1" ? "r1" : "r2");

const peers: Partial<Record<FaultKind, (target: MachineName, number: number) => readonly MachineName[]>> = {
  "cut-node": () => [...nodeNames, ...etcdNames, ...edgeNames],
  "cut-node-etcd": () => etcdNames,
  "cut-node-peers": () => nodeNames,
  "cut-etcd": () => [...etcdNames, ...nodeNames, ...edgeNames],
  "cut-rolecall": () => nodeNames,
  "cut-rolecall-node": (_, number) => [nodeNames[number] ?? "p1"],
  "cut-rolecall-etcd": () => etcdNames,
  "cut-balancer-rolecall": (target) => [edgeOfBalancer(target)],
};
