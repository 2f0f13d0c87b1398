import type { Observation } from "../cluster/observation.ts";
import { lockBoundMs } from "./freshness.ts";
import type { Sight } from "./sight.ts";

/** What an exporter's fresh rows show of a database whose node API is silent. */
export interface ExporterWitness {
  /** `/up` says primary and `/metrics` is of a database whose own time advances, both fresh. */
  readonly isPrimary: boolean;
  readonly standbysStreaming: number;
}

/**
 * Whether a primary keeps its yes although its API hangs or is dead (guard `survive`, the one exception to rule 1): its
 * exporter's fresh rows still show a primary with standbys streaming, nobody else claims the lock, and no cluster document
 * names another leader. Never longer than the lock itself is sure to last: ttl - loop_wait - retry_timeout after the
 * sending of the last probe that saw it.
 */
export function survives(sight: Sight, observation: Observation, exporter: ExporterWitness | null): boolean {
  const { surviveMs } = sight.settings.guards;
  const { hasLock, lastHeldAtMs, node } = observation;
  if (surviveMs === 0 || exporter === null || !hasLock || lastHeldAtMs === null) return false;
  const boundMs = Math.min(surviveMs, lockBoundMs(sight.part));
  if (sight.nowMs - lastHeldAtMs >= boundMs) return false;
  if (!exporter.isPrimary || exporter.standbysStreaming === 0) return false;
  const isClaimedElsewhere = sight.standing.claims.some((claim) => claim.node.name !== node.name);
  const isDisowned = [...sight.part.testimonies.values()].some(
    ({ leader, sentAtMs }) => sentAtMs > lastHeldAtMs && leader !== null && leader !== node.member,
  );
  return !isClaimedElsewhere && !isDisowned;
}
