import type { AuditedPool } from "../../../core/balancing/audited/audit-target.ts";
import type { PoolReading, ServerReading, ServerUse, TargetReading } from "../../../core/balancing/audited/reading.ts";
import { formatHostPort } from "../../../core/config/values/address.ts";
import type { Allowance } from "./allowance.ts";
import type { TargetMemory } from "./audit-target.ts";
import { nodeOfServer, type PoolTruth } from "./audited-pool.ts";

/** One step of the way that clients take: from a pool of a balancer or pooler to a node. */
export interface RoadServer {
  /** Its name in the target. */
  readonly server: string;
  /** The node that it leads to; `null`: no member. */
  readonly node: string | null;
  /** `host:port`; `null`: the target does not say. */
  readonly address: string | null;
  readonly use: ServerUse;
  /** Why nothing can begin there, in the words of the target; `null`: something can. */
  readonly closed: string | null;
  readonly sessions: number;
  /** Sessions that began since the look before; `null`: not counted, or not comparable. */
  readonly new_sessions: number | null;
  /** Attempts to connect that failed since the look before; `null`: not counted, or not comparable. */
  readonly failed: number | null;
  /** How long before this look the one before was made, in ms; `null`: there was none. */
  readonly since_look_ms: number | null;
  /** Whether the node may have new sessions of the pool; `null`: not known. */
  readonly fit: boolean | null;
  /** Why it may not; `null`: it may, or it is not known. */
  readonly reason: string | null;
}

/** The way of clients through one pool of a balancer or pooler, as the last look has seen it. */
export interface Road {
  /** The backend, database or Envoy cluster. */
  readonly backend: string;
  readonly cluster: string;
  /** Whether each of its servers must be a member: not so where a database leads to another balancer. */
  readonly only_members: boolean;
  /** Why the target lets no client through; `null`: it does. */
  readonly closed: string | null;
  /** What was sent to the target and not taken by it; `null`: nothing. */
  readonly not_taken: string | null;
  /** Where new sessions go, if that is one address, and the node there; `null`: see the servers. */
  readonly leads_to: { readonly address: string; readonly node: string | null } | null;
  /** `null`: the target has no such pool. */
  readonly servers: readonly RoadServer[] | null;
  /** How many servers are left out. */
  readonly left_out: number;
}

/** How many servers of a road are shown. */
const shownMax = 200;

/** What a look is compared with, and what was remembered before it. */
export interface RoadContext {
  readonly before: TargetMemory;
  readonly after: TargetMemory;
  /** When the look began, in ms of rolecall's clock. */
  readonly nowMs: number;
  readonly pools: readonly AuditedPool[];
  /** What the snapshot says; `null` of a cluster that is not monitored. */
  readonly truthOf: (pool: AuditedPool) => PoolTruth | null;
}

/**
 * The ways that clients take through a target, for people. Pure.
 * @returns `null` if the look has seen nothing: those of the look before are then what was known last
 */
export function roadsOf(reading: TargetReading, context: RoadContext): readonly Road[] | null {
  if (reading.kind === "failed") return null;
  const readings = new Map(reading.pools.map((one) => [one.backend, one]));
  return context.pools.flatMap((pool) => {
    const found = readings.get(pool.backend);
    return found === undefined ? [] : [roadOf(pool, found, context)];
  });
}

function roadOf(pool: AuditedPool, reading: PoolReading, context: RoadContext): Road {
  const { servers, leadsTo, closed, notTaken } = reading;
  const truth = context.truthOf(pool);
  const node =
    leadsTo === null || truth === null
      ? null
      : nodeOfServer({ server: "", address: leadsTo }, pool, { ...truth, arePlaced: true });
  return {
    backend: pool.backend,
    cluster: pool.cluster,
    only_members: pool.hasOnlyMembers,
    closed,
    not_taken: notTaken,
    leads_to: leadsTo === null ? null : { address: formatHostPort(leadsTo), node },
    servers: servers?.slice(0, shownMax).map((server) => roadServer(server, pool, { ...context, truth })) ?? null,
    left_out: Math.max(0, (servers?.length ?? 0) - shownMax),
  };
}

function roadServer(
  { server, address, use, closed, sessions, total, failed }: ServerReading,
  { backend }: AuditedPool,
  { before, after, nowMs, truth }: RoadContext & { readonly truth: PoolTruth | null },
): RoadServer {
  const key = `${backend}/${server}`;
  const node = after.servers.get(key)?.node ?? null;
  const known = before.servers.get(key);
  const last = known?.node === node ? known.last : null;
  const allowance = node === null ? undefined : truth?.allowances.get(node);
  return {
    server,
    node,
    address: address === null ? null : formatHostPort(address),
    use,
    closed,
    sessions,
    new_sessions: risenBy(total, last?.total),
    failed: risenBy(failed, last?.failed),
    since_look_ms: last === null || last === undefined ? null : Math.round(nowMs - last.atMs),
    ...fitnessOf(allowance),
  };
}

/** By how much a count has risen; `null` if it is not counted, or was begun anew. */
function risenBy(count: number | null, before: number | null | undefined): number | null {
  return count === null || before === null || before === undefined || count < before ? null : count - before;
}

function fitnessOf(allowance: Allowance | undefined): Pick<RoadServer, "fit" | "reason"> {
  if (allowance === undefined || allowance.kind === "untold") return { fit: null, reason: null };
  return allowance.kind === "new" ? { fit: true, reason: null } : { fit: false, reason: allowance.reason };
}
