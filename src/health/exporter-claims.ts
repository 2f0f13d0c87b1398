import type { Observation } from "../cluster/observation.ts";
import type { ClusterPart } from "../cluster/snapshot.ts";
import { isSenderTo } from "./exporter-node.ts";
import { isFresh, maxAgeMs } from "./freshness.ts";
import { isElsewhere } from "./identity.ts";
import type { Settings } from "./settings.ts";

/**
 * Whether a page proves that the node's database was at work lately: an exporter's `/up` keeps its 200 while its database is frozen
 * (reference/exporter-api.md, 2.5).
 */
export function isProven(observation: Observation, settings: Settings, nowMs: number): boolean {
  const { exporter } = observation;
  return exporter !== null && nowMs - exporter.provenAtMs < settings.pageMaxAgeMs;
}

/** Whether an exporter-only claim counts: one that no page proves is a frozen database's. With an API the API speaks. */
export function isBelievableClaim(claim: Observation, settings: Settings, nowMs: number): boolean {
  return claim.node.api !== null || isProven(claim, settings, nowMs);
}

/** The claims that count against each other: a lock's holder outranks every node that is merely not in recovery. */
export function contenders(claims: readonly Observation[]): readonly Observation[] {
  const locks = claims.filter(({ node }) => node.api !== null);
  return locks.length > 0 ? locks : claims;
}

/**
 * Of several claims without a cluster manager: the one that the standbys receive from; `null` where several feed standbys, or none
 * does. Timelines and what stood before decide nothing here.
 */
export function receivedFrom(part: ClusterPart, claims: readonly Observation[], { settings, nowMs }: Context): string | null {
  const standbys = part.nodes.filter(
    (node) => !node.hasLock && !node.isDown && isFresh(node, maxAgeMs(part, settings), nowMs) && isBelievableClaim(node, settings, nowMs),
  );
  const feeding = claims.filter((claim) => standbys.some((standby) => feeds(part, claim, standby)));
  return feeding.length === 1 ? (feeding[0]?.node.name ?? null) : null;
}

interface Context {
  readonly settings: Settings;
  readonly nowMs: number;
}

/** By the standby's own receiver where it tells one, else by the row in the claimant's list of senders. */
function feeds(part: ClusterPart, claim: Observation, standby: Observation): boolean {
  const receiver = standby.exporter?.page?.receiver ?? null;
  if (receiver !== null && receiver.port !== null && claim.node.database !== null) {
    return receiver.isStreaming && !isElsewhere({ host: receiver.host, port: receiver.port }, claim.node.database);
  }
  const senders = claim.exporter?.page?.senders ?? [];
  return senders.some((sender) => sender.isStreaming && isSenderTo(part, { sender, node: standby.node }));
}
