import type { Observation } from "../cluster/observation.ts";
import type { ClusterPart, Testimony } from "../cluster/snapshot.ts";
import { contenders, isBelievableClaim, receivedFrom } from "./exporter-claims.ts";
import { isFresh, maxAgeMs } from "./freshness.ts";
import { isMisaddressed, isOutOfScope } from "./identity.ts";
import type { Settings } from "./settings.ts";
import { newestTestimony } from "./testimony.ts";

/** Who holds the lock at one instant: at most one node (design.md, rule 2). */
export interface Standing {
  readonly holder: string | null;
  /** Every node that claims the lock, freshly. */
  readonly claims: readonly Observation[];
}

const nobody: Standing = { holder: null, claims: [] };

/**
 * Applies rule 2: a sole claim stands unless a cluster document asked of another node after the claim appeared names
 * someone else; of several the one such a document names wins, else the one that stood before, else the higher timeline.
 * Claims of nodes without an API (known through their exporters) count only among themselves: there the standbys decide.
 */
export function standing(part: ClusterPart, settings: Settings, nowMs: number): Standing {
  if (part.claims.length === 0) return nobody;
  const maxAge = maxAgeMs(part, settings);
  const claims = part.claims
    .flatMap((index) => part.nodes[index] ?? [])
    .filter((claim) => !claim.isDown && isFresh(claim, maxAge, nowMs) && !isForeign(part, claim, settings))
    .filter((claim) => isBelievableClaim(claim, settings, nowMs));
  const counting = contenders(claims);
  const [first, ...others] = counting;
  if (first === undefined) return nobody;
  if (others.length === 0) return { holder: isDisowned(part, first) ? null : first.node.name, claims };
  if (first.node.api === null) return { holder: receivedFrom(part, claims, { settings, nowMs }), claims };
  return { holder: named(part, counting) ?? stood(part, counting, settings) ?? highest(counting), claims };
}

/** Whether who leads is open, so that the cluster document should be asked for at once rather than at its own pace. */
export function isDisputed(part: ClusterPart, settings: Settings, nowMs: number): boolean {
  const { holder, claims } = standing(part, settings, nowMs);
  return claims.length > 1 || (claims.length === 1 && holder === null);
}

/** The lock of another scope is no claim on this one, nor is the word of a node that is reached under another's address. */
function isForeign(part: ClusterPart, { node, report }: Observation, settings: Settings): boolean {
  if (!settings.guards.sameSystem || report === null) return false;
  return isOutOfScope(part, report) || isMisaddressed(node, report);
}

function isDisowned(part: ClusterPart, claim: Observation): boolean {
  const testimony = newestTestimony(
    part,
    (witness, { sentAtMs }) => witness !== claim.node.name && sentAtMs > (claim.claimedSinceMs ?? Infinity),
  );
  return (
    testimony !== undefined && testimony.leader !== null && testimony.leader !== claim.node.name && testimony.leader !== claim.node.member
  );
}

/** The claim that the newest document names which was asked after all claims had appeared, and of another node than it names. */
function named(part: ClusterPart, claims: readonly Observation[]): string | null {
  const appeared = Math.max(...claims.map((claim) => claim.claimedSinceMs ?? Infinity));
  const claimOf = (testimony: Testimony): Observation | undefined =>
    claims.find(({ node }) => node.member === testimony.leader || node.name === testimony.leader);
  const testimony = newestTestimony(part, (witness, candidate) => {
    const claim = claimOf(candidate);
    return candidate.sentAtMs > appeared && claim !== undefined && claim.node.name !== witness;
  });
  return testimony === undefined ? null : (claimOf(testimony)?.node.name ?? null);
}

/**
 * The claim that stood in the previous snapshot. Claims of one round (our own start, a thaw) appeared together: that one of them was
 * answered first by a few milliseconds is no standing.
 */
function stood(part: ClusterPart, claims: readonly Observation[], { intervalMs }: Settings): string | null {
  const before = claims.find(({ node }) => node.name === part.stood);
  const sinceMs = before?.claimedSinceMs ?? Infinity;
  const isOlder = claims.every((claim) => claim === before || (claim.claimedSinceMs ?? -Infinity) - sinceMs >= intervalMs / 2);
  return before !== undefined && isOlder ? before.node.name : null;
}

/** The claim on the highest known timeline, or nobody where two share it or none is known. */
function highest(claims: readonly Observation[]): string | null {
  const timelines = claims.map((claim) => claim.report?.timeline ?? -1);
  const top = Math.max(...timelines);
  const leading = claims.filter((_, index) => timelines[index] === top);
  return top >= 0 && leading.length === 1 ? (leading[0]?.node.name ?? null) : null;
}
