import type { Observation } from "../cluster/observation.ts";
import type { ClusterPart, Leadership, LostClaim } from "../cluster/snapshot.ts";
import { contenders, isBelievableClaim, receivedFrom } from "./exporter-claims.ts";
import { isFresh, maxAgeMs } from "./freshness.ts";
import { isMisaddressed, isOutOfScope } from "./identity.ts";
import { resolveLeadership, type LeadershipInputs, type LockClaim, type NodeAnswers } from "./leadership.ts";
import type { Settings } from "./settings.ts";
import { countingViews, isConfirmed, isIdentified } from "./testimony.ts";

/** Who holds the lock at one instant: at most one node (design.md, rule 2). */
export interface Standing {
  readonly holder: string | null;
  /** Every node that claims the lock, freshly. */
  readonly claims: readonly Observation[];
  /** Nobody holds the lock, and of several claims none was taken away by views. */
  readonly isContested: boolean;
}

/** The same, as it is settled when an outcome is recorded. */
export interface SettledStanding extends Standing {
  readonly leadership: Leadership;
  readonly lost: ReadonlyMap<string, LostClaim>;
}

const unclaimed: Leadership = { kind: "unclaimed" };
const nothingLost: ReadonlyMap<string, LostClaim> = new Map();

/**
 * Applies rule 2 to what was recorded so far. Claims of nodes without an API (known through their exporters) count only among themselves:
 * there the standbys decide.
 */
export function settledStanding(part: ClusterPart, settings: Settings, nowMs: number): SettledStanding {
  if (part.claims.length === 0) {
    const leadership = part.leadership.kind === "unclaimed" ? part.leadership : unclaimed;
    return { holder: null, claims: [], isContested: false, leadership, lost: part.lost.size === 0 ? part.lost : nothingLost };
  }
  const claims = freshClaims(part, settings, nowMs);
  const counting = contenders(claims);
  const sole = unopposed(part, counting, { settings, nowMs });
  if (sole !== null) return { holder: sole.holder, claims, isContested: false, leadership: sole, lost: part.lost };
  const resolved = resolveLeadership(inputsOf(part, counting, { settings, nowMs }));
  const lost = isSameLoss(part.lost, resolved.lost) ? part.lost : resolved.lost;
  const leadership = byReceivers(part, { claims, counting, lost }, { settings, nowMs }) ?? resolved.leadership;
  return {
    holder: leadership.kind === "held" ? leadership.holder : null,
    claims,
    isContested: leadership.kind === "contested",
    leadership: isSameLeadership(part.leadership, leadership) ? part.leadership : leadership,
    lost,
  };
}

/**
 * Who holds the lock at an instant after the last outcome was recorded. Time only takes away: a holder is none any more once its claim is
 * too old, and of two that contest the lock none gets it because the other's claim grew old.
 */
export function standingAt(part: ClusterPart, settings: Settings, nowMs: number): Standing {
  if (part.claims.length === 0) return { holder: null, claims: [], isContested: false };
  const claims = freshClaims(part, settings, nowMs);
  const holder = claims.find(({ node }) => node.name === part.holder);
  if (holder !== undefined && (holder.node.api !== null || isStillReceivedFrom(part, claims, { settings, nowMs })))
    return { holder: holder.node.name, claims, isContested: false };
  const open = claims.filter(({ node }) => !part.lost.has(node.name));
  return { holder: null, claims, isContested: open.length > 1 };
}

/** Whether who leads is open, or some claim is held against another view of it. */
export function isDisputed(part: ClusterPart, settings: Settings, nowMs: number): boolean {
  const { holder, claims } = standingAt(part, settings, nowMs);
  return claims.length > 1 || (claims.length === 1 && holder === null);
}

interface Context {
  readonly settings: Settings;
  readonly nowMs: number;
}

/** The usual case, found without a look at every node: a sole claim that was not lost, and that every view names. */
function unopposed(part: ClusterPart, [claim, ...others]: readonly Observation[], context: Context): HeldLeadership | null {
  if (claim === undefined || others.length > 0 || part.lost.size > 0) return null;
  const holder = claim.node.name;
  if (!isConfirmed(part, holder, context)) return null;
  const { leadership } = part;
  if (leadership.kind === "held" && leadership.by === "sole" && leadership.holder === holder) return leadership;
  return { kind: "held", holder, by: "sole", witnesses: [] };
}

type HeldLeadership = Extract<Leadership, { kind: "held" }>;

function freshClaims(part: ClusterPart, settings: Settings, nowMs: number): readonly Observation[] {
  const maxAge = maxAgeMs(part, settings);
  const claims: Observation[] = [];
  for (const index of part.claims) {
    const claim = part.nodes[index];
    if (claim === undefined || claim.isDown || !isFresh(claim, maxAge, nowMs)) continue;
    if (!isForeign(part, claim, settings) && isBelievableClaim(claim, settings, nowMs)) claims.push(claim);
  }
  return claims;
}

/** The lock of another scope is no claim on this one, nor is that of a node that is reached under another's address. */
function isForeign(part: ClusterPart, { node, report }: Observation, settings: Settings): boolean {
  if (!settings.guards.sameSystem || report === null) return false;
  return isOutOfScope(part, report) || isMisaddressed(node, report);
}

function inputsOf(part: ClusterPart, claims: readonly Observation[], { settings, nowMs }: Context): LeadershipInputs {
  const nodes = new Map<string, NodeAnswers>();
  for (const observation of part.nodes) {
    const { node, sentAtMs, hasLock, failuresInRow, isDown } = observation;
    const isSilent = isDown || failuresInRow > 0;
    const canTestify = node.api !== null && isIdentified(part, node.name, settings);
    // A fixed node may be reached at another address than it advertises.
    const api = node.isFixed ? null : node.api;
    nodes.set(node.name, { reportedAtMs: sentAtMs, hasLock, isSilent, isViewFailing: part.failedViews.has(node.name), canTestify, api });
  }
  const views = countingViews(part, settings, nowMs);
  return { claims: claims.map(claimOf), views, nodes, lost: part.lost, stoodLast: part.incumbent };
}

function claimOf({ node, report, claimedSinceMs }: Observation): LockClaim {
  return {
    node: node.name,
    appearedAtMs: claimedSinceMs ?? Infinity,
    timeline: report?.timeline ?? null,
    isPaused: report?.isPaused ?? false,
    isFailsafe: report?.isFailsafe ?? false,
    hasApi: node.api !== null,
  };
}

interface ClaimsAtHand {
  readonly claims: readonly Observation[];
  readonly counting: readonly Observation[];
  readonly lost: ReadonlyMap<string, LostClaim>;
}

/** Several claims without a cluster manager: timelines and what stood before decide nothing, the standbys do. */
function byReceivers(part: ClusterPart, { claims, counting, lost }: ClaimsAtHand, context: Context): Leadership | null {
  const open = counting.filter(({ node }) => !lost.has(node.name));
  if (open.length < 2 || open[0]?.node.api !== null) return null;
  const holder = receivedFrom(part, claims, context);
  return holder === null
    ? { kind: "contested", between: open.map(({ node }) => node.name).toSorted() }
    : { kind: "held", holder, by: "receivers", witnesses: [] };
}

function isStillReceivedFrom(part: ClusterPart, claims: readonly Observation[], context: Context): boolean {
  return contenders(claims).length < 2 || receivedFrom(part, claims, context) === part.holder;
}

/** A part whose decision stays the same keeps the same objects, which tells watchers so. */
function isSameLeadership(one: Leadership, other: Leadership): boolean {
  if (one.kind === "held" && other.kind === "held")
    return one.holder === other.holder && one.by === other.by && one.witnesses.join() === other.witnesses.join();
  if (one.kind === "contested" && other.kind === "contested") return one.between.join() === other.between.join();
  return one.kind === other.kind;
}

function isSameLoss(one: ReadonlyMap<string, LostClaim>, other: ReadonlyMap<string, LostClaim>): boolean {
  return one.size === other.size && [...other].every(([node, loss]) => one.get(node) === loss);
}
