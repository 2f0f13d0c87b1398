import type { DatabaseAddress } from "../../../core/cluster/node.ts";
import { isSoft } from "../../../core/health/reason.ts";
import type { PoolMember } from "../../../core/pools/pool-members.ts";

/** An endpoint of a pool, as Envoy gets it. */
export interface ListedEndpoint {
  readonly node: string;
  /** An IP address: endpoints that are pushed cannot have names. */
  readonly host: string;
  readonly port: number;
  /** Whether it gets new connections. */
  readonly isHealthy: boolean;
  /** From 1 to 100; `null`: all have the same. */
  readonly weight: number | null;
  readonly zone: string | null;
}

/** What Envoy gets of a pool at one instant. */
export interface Assignment {
  readonly endpoints: readonly ListedEndpoint[];
  /** The zones whose Envoys get their own endpoints first: those of all members, listed or not; none for a primary. */
  readonly zones: readonly string[];
  /** In percent: so much more than their share the healthy endpoints of a priority take before others get any. */
  readonly overprovisioning: number;
  /** After how long without an update Envoy drops the endpoints, in ms; `null`: never. */
  readonly staleAfterMs: number | null;
  /** Where Envoy sends the checks of all endpoints; `null`: to the endpoints. */
  readonly checksAt: DatabaseAddress | null;
}

/** A member of a pool, with what only Envoy needs of it. */
export interface EndpointMember extends Pick<PoolMember, "zone" | "verdict" | "isSilent"> {
  readonly node: string;
  /** Its IP address and port; `null`: it cannot be listed. */
  readonly address: DatabaseAddress | null;
  /** Whether the name of its address leads to another machine by now than the one that was judged. */
  readonly isElsewhere: boolean;
  readonly weight: number | null;
}

/** How a pool is listed. */
export interface AssignmentRules extends Pick<Assignment, "staleAfterMs" | "checksAt"> {
  /** Whether the pool is for the primary, so that all nodes are listed, always. */
  readonly isOfPrimary: boolean;
  /** How long an endpoint is listed after a hard no, so that checks of its sessions can close them, in ms. */
  readonly cutMs: number;
}

/** What is remembered of the endpoints of a pool from one assignment to the next. */
export interface AssignmentMemory {
  /** The nodes that were listed as healthy. */
  readonly healthy: ReadonlySet<string>;
  /** Up to when a node with a hard no stays listed, in ms of rolecall's clock. */
  readonly leavingUntilMs: ReadonlyMap<string, number>;
}

export const nothingListed: AssignmentMemory = { healthy: new Set(), leavingUntilMs: new Map() };

/** An assignment, and how long it holds if the members stay the same. */
export interface NextAssignment {
  readonly assignment: Assignment;
  readonly memory: AssignmentMemory;
  /** In ms of rolecall's clock. */
  readonly validUntilMs: number;
}

/**
 * Decides what Envoy gets of a pool. Pure.
 *
 * A pool of the primary lists every node, always: the health of an endpoint decides new connections, and the checks that
 * Envoy sends close the sessions of an old primary only while its endpoint is listed.
 *
 * Another pool lists fit nodes: of unhealthy endpoints, Envoy would move a part of the connections to the next
 * priority. After a hard no an endpoint is listed as unhealthy until the checks have closed its sessions; meanwhile
 * `overprovisioning` lets one healthy endpoint keep all connections. After a soft no it is removed at once, and its
 * sessions live. A member of which nothing is known stays as it was.
 * @param nowMs the instant of the verdicts, in ms of rolecall's clock
 */
export function nextAssignment(
  members: readonly EndpointMember[],
  memory: AssignmentMemory,
  { rules, nowMs }: { readonly rules: AssignmentRules; readonly nowMs: number },
): NextAssignment {
  const endpoints: ListedEndpoint[] = [];
  const healthy = new Set<string>();
  const leavingUntilMs = new Map<string, number>();
  for (const member of members) {
    const { node, address, zone, weight } = member;
    const isFit = member.isSilent ? memory.healthy.has(node) : member.verdict.fit;
    const isHealthy = isFit && !member.isElsewhere;
    const leavingMs = leavingTime(member, memory, { cutMs: rules.cutMs, nowMs });
    if (isHealthy) healthy.add(node);
    else if (leavingMs !== null) leavingUntilMs.set(node, leavingMs);
    const isListed = rules.isOfPrimary || isHealthy || (leavingMs !== null && leavingMs > nowMs);
    if (address !== null && isListed) endpoints.push({ node, ...address, isHealthy, weight, zone });
  }
  const { isOfPrimary, staleAfterMs, checksAt } = rules;
  const zones = isOfPrimary ? [] : [...new Set(members.flatMap(({ zone }) => zone ?? []))].toSorted();
  const overprovisioning = overprovisioningOf(
    isOfPrimary ? endpoints.map(() => null) : endpoints.map(({ zone }) => zone),
  );
  return {
    assignment: { endpoints, zones, overprovisioning, staleAfterMs, checksAt },
    memory: { healthy, leavingUntilMs },
    validUntilMs: Math.min(Infinity, ...[...leavingUntilMs.values()].filter((untilMs) => untilMs > nowMs)),
  };
}

/** Up to when an endpoint that is not healthy stays listed, because it was when its hard no came; `null`: it need not. */
function leavingTime(
  { node, verdict, isSilent, isElsewhere }: EndpointMember,
  { healthy, leavingUntilMs }: AssignmentMemory,
  { cutMs, nowMs }: { readonly cutMs: number; readonly nowMs: number },
): number | null {
  const leavingMs = leavingUntilMs.get(node);
  if (leavingMs !== undefined) return leavingMs;
  const isHardNo = isElsewhere || (!isSilent && !verdict.fit && !isSoft(verdict.reason));
  return healthy.has(node) && isHardNo ? nowMs + cutMs : null;
}

/**
 * So many percent that one healthy endpoint of the largest zone takes all connections of the zone.
 * @param zones that of each endpoint
 */
function overprovisioningOf(zones: readonly (string | null)[]): number {
  const sizes = new Map<string | null, number>();
  for (const zone of zones) sizes.set(zone, (sizes.get(zone) ?? 0) + 1);
  return 100 * Math.max(1, ...sizes.values());
}
