import { type Cluster, modelHoldsLock } from "./cluster.ts";
import { faultList } from "./fault-list.ts";
import type { Fault } from "./faults.ts";
import type { SimulatedNode } from "./node.ts";

/** Describes for people what a fault does to a node in its present role, and why it may do nothing. */
export function faultEffect(cluster: Cluster, node: SimulatedNode, fault: Fault): string {
  const leads = modelHoldsLock(cluster, node);
  const subject = `${node.name} (${leads ? "leader" : node.role})`;
  return `${subject}: ${effectOf(fault)}.${noteOf(cluster, node, { kind: fault.kind, leads })}`;
}

function effectOf(fault: Fault): string {
  if (fault.kind === "slow") return `its API answers ${String(fault.ms)} ms late`;
  if (fault.kind === "garbage") return `its API sends invalid responses (${fault.style})`;
  if (fault.kind === "heal") return "all its faults are undone";
  if (fault.kind === "lag")
    return fault.bytes === Infinity ? "its replay is stopped" : `its replay stays ${String(fault.bytes)} bytes behind`;
  return faultList.find(({ name }) => name === fault.kind)?.effect ?? fault.kind;
}

interface Affected {
  readonly kind: Fault["kind"];
  readonly leads: boolean;
}

function noteOf(cluster: Cluster, node: SimulatedNode, { kind, leads }: Affected): string {
  if (kind === "freeze" && !node.alive) return " It is killed, so this changes nothing.";
  if (!leads) return "";
  if ((kind === "kill" || kind === "freeze") && cluster.nodes.length > 1)
    return ` Another node leads once its lock expires, in ${expiry(cluster)}.`;
  if (kind === "detach" || kind === "lag") return " A leader has nothing to receive: this shows once it is a replica.";
  return kind === "claim" ? " It is the leader already: this shows once it is a replica." : "";
}

function expiry({ lock, settings, nowMs }: Cluster): string {
  const leftMs = lock === undefined ? 0 : lock.renewedAtMs + settings.ttlMs - nowMs;
  return `${String(Math.max(0, Math.ceil(leftMs / 1000)))} s`;
}
