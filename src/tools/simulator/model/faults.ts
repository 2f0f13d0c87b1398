import { type Cluster, leaderOf } from "./cluster.ts";
import { faultNames } from "./fault-list.ts";
import { didYouMean } from "../../../core/cluster/values/did-you-mean.ts";
import { beginTransition } from "./transitions.ts";
import { type GarbageStyle, isSource, type SimulatedNode } from "./node.ts";
import { write } from "./replication.ts";
import { parseSize } from "./size.ts";

/** A fault to inject into a node; `heal` removes all of them. */
export type Fault =
  | { readonly kind: "kill" | "freeze" | "hang" | "detach" | "claim" | "heal" }
  | { readonly kind: "lag"; readonly bytes: number }
  | { readonly kind: "slow"; readonly ms: number }
  | { readonly kind: "garbage"; readonly style: GarbageStyle };

/** A fault parsed from an HTTP request, or the reason why it is invalid. */
export type ParsedFault =
  { readonly kind: "fault"; readonly fault: Fault } | { readonly kind: "invalid"; readonly text: string };

const garbageStyles: readonly GarbageStyle[] = ["json", "http", "html", "huge"];
const slowMsMax = 600_000;
/** A pebibyte: more lag than any database has, and well below the loss of integer precision. */
const lagBytesMax = 2 ** 50;

/**
 * Parses the action of `POST /sim/{node}/{action}` and its parameters: `bytes` of lag, `ms` of slow, `kind` of
 * garbage.
 */
export function parseFault(action: string, parameters: ReadonlyMap<string, string>): ParsedFault {
  switch (action) {
    case "kill":
    case "freeze":
    case "hang":
    case "detach":
    case "claim":
    case "heal":
      return { kind: "fault", fault: { kind: action } };
    case "revive":
      return { kind: "fault", fault: { kind: "heal" } };
    case "lag":
      return parseLag(parameters.get("bytes"));
    case "slow":
      return parseSlow(parameters.get("ms"));
    case "garbage":
      return parseGarbage(parameters.get("kind") ?? "json");
    default:
      return unknownFault(action);
  }
}

/** Injects a fault into a node at the model's present time. A dead node cannot freeze. */
export function injectFault(cluster: Cluster, node: SimulatedNode, fault: Fault): void {
  switch (fault.kind) {
    case "kill":
      node.alive = false;
      node.frozenAtMs = undefined;
      node.transition = undefined;
      return;
    case "freeze":
      if (node.alive) node.frozenAtMs ??= cluster.nowMs;
      return;
    case "detach":
      node.detachedAtMs ??= cluster.nowMs;
      return;
    case "claim":
      node.claimsLock = true;
      return;
    case "lag":
      fallBehind(cluster, node, fault.bytes);
      return;
    case "hang":
      node.api = { kind: "hang" };
      return;
    case "slow":
      node.api = { kind: "slow", ms: fault.ms };
      return;
    case "garbage":
      node.api = { kind: "garbage", style: fault.style };
      return;
    case "heal":
      heal(cluster, node);
      return;
  }
}

/** Keeps replay `bytes` behind. The leader writes the missing bytes in one burst, so that the node lags at once. */
function fallBehind(cluster: Cluster, node: SimulatedNode, bytes: number): void {
  node.lagBytes = bytes;
  const leader = leaderOf(cluster);
  if (leader === undefined || leader === node || !isSource(leader) || bytes === Infinity) return;
  const missing = bytes - (leader.receivedLsn - node.replayedLsn);
  if (missing > 0) write(leader, missing);
}

function heal(cluster: Cluster, node: SimulatedNode): void {
  const wasDead = !node.alive;
  node.alive = true;
  node.frozenAtMs = undefined;
  node.api = { kind: "none" };
  node.detachedAtMs = undefined;
  node.lagBytes = undefined;
  node.claimsLock = false;
  node.nextLoopAtMs = cluster.nowMs;
  if (wasDead) beginTransition(cluster, node, "starting");
}

function unknownFault(name: string): ParsedFault {
  const near = didYouMean(name, faultNames);
  const hint = near === null ? "" : `: did you mean ${near}?`;
  return invalid(`the fault must be one of ${faultNames.join(", ")}, got "${name}"${hint}`);
}

function parseLag(bytes: string | undefined): ParsedFault {
  const parsed = bytes === undefined ? Infinity : parseSize(bytes);
  const isReadable = parsed !== undefined && parsed >= 0 && (bytes === undefined || parsed <= lagBytesMax);
  if (!isReadable)
    return invalid(`bytes must be a size like 1048576 or 9MB, at most 1024TB, or be left out, got "${bytes ?? ""}"`);
  return { kind: "fault", fault: { kind: "lag", bytes: parsed } };
}

function parseSlow(ms: string | undefined): ParsedFault {
  const parsed = Number(ms ?? 1000);
  if (ms === "" || !(parsed >= 0 && parsed <= slowMsMax))
    return invalid(`ms must be a number from 0 to ${String(slowMsMax)}, got "${ms ?? ""}"`);
  return { kind: "fault", fault: { kind: "slow", ms: parsed } };
}

function parseGarbage(kind: string): ParsedFault {
  const style = garbageStyles.find((known) => known === kind);
  if (style === undefined) return invalid(`kind must be one of ${garbageStyles.join(", ")}, got "${kind}"`);
  return { kind: "fault", fault: { kind: "garbage", style } };
}

function invalid(text: string): ParsedFault {
  return { kind: "invalid", text };
}
