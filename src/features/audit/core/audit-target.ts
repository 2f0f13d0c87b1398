import type { AuditedPool, RouteDifference, RouteFindingKind } from "../../../core/balancing/audited/audit-target.ts";
import type { DatabaseAddress } from "../../../core/cluster/node.ts";
import { formatHostPort } from "../../../core/config/values/address.ts";
import type { Allowance } from "./allowance.ts";
import { addressByName, nodeByName, nodeOfServer, type PoolTruth } from "./audited-pool.ts";
import { confirmMs, neverLooked, nextPhase, type DifferencePhase, type Seen } from "./phase.ts";
import type { PoolReading, ServerReading, TargetReading } from "../../../core/balancing/audited/reading.ts";
import {
  type Counted,
  type IdleWindow,
  lookForMisrouted,
  lookForStarved,
  type PoolShares,
  settledMs,
  sharesOf,
} from "./seen-server.ts";

/** What is remembered of a target from one look to the next. */
export interface TargetMemory {
  readonly reach: DifferencePhase;
  /** By backend and server. */
  readonly servers: ReadonlyMap<string, ServerMemory>;
  /** The phases of what is missing, by backend and node. */
  readonly lacking: ReadonlyMap<string, DifferencePhase>;
  /** By backend: what the target does not take. */
  readonly untaken: ReadonlyMap<string, DifferencePhase>;
  readonly differences: readonly RouteDifference[];
  /** What differs, but not for long enough to be a finding: it may pass by itself. */
  readonly suspected: readonly RouteDifference[];
  /** The clusters of which there is no evidence now, so that nothing was compared. */
  readonly unknown: ReadonlySet<string>;
  /** The backends for which no node is fit: where they lead clients is neither right nor wrong. */
  readonly unled: ReadonlySet<string>;
}

interface ServerMemory {
  readonly node: string | null;
  readonly last: Counted | null;
  readonly window: IdleWindow | null;
  readonly misrouted: DifferencePhase;
  readonly wasStaying: boolean;
  readonly starved: DifferencePhase;
  readonly foreign: DifferencePhase;
}

export const nothingSeen: TargetMemory = {
  reach: neverLooked,
  servers: new Map(),
  lacking: new Map(),
  untaken: new Map(),
  differences: [],
  suspected: [],
  unknown: new Set(),
  unled: new Set(),
};

/** What one look at a target is compared with. */
export interface AuditContext {
  /** When the look began, in ms of rolecall's clock: what it saw may have been so at its beginning only. */
  readonly nowMs: number;
  readonly pools: readonly AuditedPool[];
  /** What the snapshot says; `null` of a cluster that is not monitored. */
  readonly truthOf: (pool: AuditedPool) => PoolTruth | null;
}

/** What a look gives. */
export interface TargetAudit {
  readonly memory: TargetMemory;
  /** When to look again at the latest, in ms of rolecall's clock, although it is not due; Infinity: when it is due. */
  readonly lookAgainMs: number;
}

/** How long a target may be out of reach before that is a finding, in ms: it may be restarting. */
const reachDelayMs = 5_000;
/** How long a server or member may be missing before that is a finding, in ms: rolecall adds members within seconds. */
const missingDelayMs = 10_000;
/** The same where no client can use the pool meanwhile, in ms. */
const unusableDelayMs = 3_000;
/** How long a pool may be paused, in ms: longer than a switchover for which its clients wait. */
const pausedDelayMs = 30_000;
/** How many differences of one kind are listed of a target: one that lists servers without end must not fill all pages. */
const listedMax = 300;
/** How soon after a change the next look follows that can see new sessions, in ms. */
const countAgainMs = 1_000;

/** Compares what a target has with the snapshot. Pure. */
export function auditTarget(memory: TargetMemory, reading: TargetReading, context: AuditContext): TargetAudit {
  const { nowMs } = context;
  const isFailed = reading.kind === "failed";
  const reach = nextPhase(memory.reach, isFailed ? "wrong" : "right", {
    nowMs,
    sinceMs: -Infinity,
    delayMs: reachDelayMs,
  });
  if (isFailed) {
    // What was found may go on, and nobody sees it end.
    const kept = memory.differences.filter(({ pool }) => pool !== null);
    const whole = { kind: "unreachable" as const, pool: null, server: null, node: null };
    const own =
      reach.kind === "found"
        ? [{ ...whole, sinceMs: reach.sinceMs, what: `cannot be read: ${reading.problem}`, ...noServer }]
        : [];
    return { memory: { ...memory, reach, differences: [...own, ...kept] }, lookAgainMs: Infinity };
  }
  const next = new TargetLook(memory, context);
  const readings = new Map(reading.pools.map((one) => [one.backend, one]));
  for (const pool of context.pools) {
    const found = readings.get(pool.backend);
    const truth = context.truthOf(pool);
    if (found !== undefined && truth !== null) next.add(pool, found, truth);
  }
  return next.end(reach);
}

const noSessions = { isStaying: false, leadsThere: false, belongsAt: null } as const;
/** Of what is no server of the target. */
const noServer = { ...noSessions, isChecked: true, closed: null, isUnusable: false } as const;

/** One pool of a target, with what both sides say of it. */
interface ComparedPool {
  readonly pool: AuditedPool;
  readonly reading: PoolReading & { readonly servers: readonly ServerReading[] };
  readonly truth: PoolTruth;
  readonly nodes: readonly (string | null)[];
  /** The nodes that may have new sessions. */
  readonly fit: ReadonlySet<string>;
  readonly shares: PoolShares;
  /** Whether a server that leads to a fit node can get sessions, now or later. */
  readonly isUsable: boolean;
}

/** One look: gathers what is remembered of it. */
class TargetLook {
  readonly #before: TargetMemory;
  readonly #nowMs: number;
  readonly #servers = new Map<string, ServerMemory>();
  readonly #lacking = new Map<string, DifferencePhase>();
  readonly #untaken = new Map<string, DifferencePhase>();
  readonly #differences: RouteDifference[] = [];
  readonly #suspected: RouteDifference[] = [];
  readonly #unknown = new Set<string>();
  readonly #unled = new Set<string>();
  readonly #listed = new Map<RouteFindingKind, number>();
  #againMs = Infinity;

  constructor(before: TargetMemory, { nowMs }: AuditContext) {
    this.#before = before;
    this.#nowMs = nowMs;
  }

  add(pool: AuditedPool, reading: PoolReading, truth: PoolTruth): void {
    const { servers, notTaken } = reading;
    const allowances = [...truth.allowances.values()];
    if (allowances.length > 0 && allowances.every(({ kind }) => kind === "untold")) this.#unknown.add(pool.cluster);
    const untaken = { seen: notTaken === null ? "right" : "wrong", sinceMs: -Infinity, what: notTaken ?? "" } as const;
    const before = this.#before.untaken.get(pool.backend) ?? neverLooked;
    const about = { pool, server: null, node: null, kind: "unreachable", ...noServer } as const;
    this.#untaken.set(pool.backend, this.#follow(before, { ...untaken, delayMs: reachDelayMs }, about));
    this.#addClosed(pool, reading, allowances);
    if (servers === null) {
      const what = `has no ${pool.backend}`;
      this.#lack(pool, { subject: "", seen: "wrong", server: null, node: null, what });
      return;
    }
    const arePlaced = servers.some(({ address }) => address !== null && truth.at.has(formatHostPort(address)));
    const nodes = servers.map((server) => nodeOfServer(server, pool, { ...truth, arePlaced }));
    const fit = new Set([...truth.allowances].flatMap(([node, { kind }]) => (kind === "new" ? [node] : [])));
    if (fit.size === 0 && allowances.length > 0) this.#unled.add(pool.backend);
    const shares = sharesOf(servers, (at) => fit.has(nodes[at] ?? ""));
    const isUsable = servers.some(({ closed }, at) => closed === null && fit.has(nodes[at] ?? ""));
    const compared = { pool, reading: { ...reading, servers }, truth, nodes, fit, shares, isUsable };
    for (const [at, server] of servers.entries()) this.#addServer(compared, server, nodes[at] ?? null);
    if (pool.lists !== "none") this.#addLacking(compared);
  }

  /** A pool is paused, by rolecall or by another program: no client can use it, while a node is fit. */
  #addClosed(pool: AuditedPool, { closed }: PoolReading, allowances: readonly Allowance[]): void {
    const key = `${pool.backend}/`;
    const before = this.#before.untaken.get(key) ?? neverLooked;
    const isWrong = closed !== null && allowances.some(({ kind }) => kind === "new");
    if (!isWrong && before.kind === "right") return;
    const look = { seen: isWrong ? "wrong" : "right", sinceMs: -Infinity, delayMs: pausedDelayMs } as const;
    const what = `is ${closed}`;
    const about = { ...noServer, pool, server: null, node: null, kind: "starved", closed, isUnusable: true } as const;
    this.#untaken.set(key, this.#follow(before, { ...look, what }, about));
  }

  end(reach: DifferencePhase): TargetAudit {
    return {
      memory: {
        reach,
        servers: this.#servers,
        lacking: this.#lacking,
        untaken: this.#untaken,
        differences: this.#differences,
        suspected: this.#suspected,
        unknown: this.#unknown,
        unled: this.#unled,
      },
      lookAgainMs: this.#againMs,
    };
  }

  #addServer(compared: ComparedPool, server: ServerReading, node: string | null): void {
    const { pool, reading, truth, fit, shares } = compared;
    const key = `${pool.backend}/${server.server}`;
    const before = this.#knownServer(key, node);
    const allowance = (node === null ? undefined : truth.allowances.get(node)) ?? untold;
    const context = {
      allowance,
      last: before.last,
      wasStaying: before.wasStaying && before.misrouted.kind === "found",
      nowMs: this.#nowMs,
      hasOther: fit.size > (node !== null && fit.has(node) ? 1 : 0),
      keepsSessions: pool.keepsSessions,
      leads: leadsText(server, node, { pool, truth }),
    };
    const misrouted = lookForMisrouted(server, context);
    const { isUsable } = compared;
    const { isShared, leadsTo } = reading;
    const starved = lookForStarved(server, { ...context, isShared, isUsable, shares, window: before.window });
    const foreign = pool.hasOnlyMembers ? foreignSeen(server, node, truth) : "right";
    const isRouted =
      leadsTo !== null &&
      node !== null &&
      nodeOfServer({ server: "", address: leadsTo }, pool, { ...truth, arePlaced: true }) === node;
    const about = { pool, server: server.server, node, isChecked: server.isChecked, closed: server.closed };
    const next: ServerMemory = {
      node,
      last: server.total === null ? null : countedOf(server, server.total, this.#nowMs),
      window: starved.window,
      wasStaying: misrouted.isStaying,
      misrouted: this.#follow(before.misrouted, misrouted, {
        ...about,
        kind: "misrouted",
        isStaying: misrouted.isStaying,
        leadsThere: isRouted,
        belongsAt: null,
        isUnusable: false,
      }),
      starved: this.#follow(before.starved, starved, {
        ...about,
        ...noSessions,
        kind: "starved",
        isUnusable: starved.isUnusable,
      }),
      foreign: this.#follow(
        before.foreign,
        { seen: foreign, sinceMs: -Infinity, delayMs: missingDelayMs, what: foreignText(server, pool) },
        { ...about, ...noSessions, kind: "missing", belongsAt: addressByName(server, pool, truth), isUnusable: false },
      ),
    };
    this.#servers.set(key, next);
    this.#countAgain(allowance, server, before.last);
  }

  /**
   * What is remembered of a server. That says nothing once it leads to another node; and the checks of one that is new
   * or was moved have not said yet whether it takes sessions, so that what is wrong with it begins now.
   */
  #knownServer(key: string, node: string | null): ServerMemory {
    const known = this.#before.servers.get(key);
    if (known?.node === node) return known;
    return this.#before.servers.size === 0
      ? unknownServer
      : { ...unknownServer, misrouted: { kind: "right", atMs: this.#nowMs } };
  }

  #addLacking({ pool, truth, nodes, fit, reading: { servers } }: ComparedPool): void {
    const had = new Set(nodes);
    // A server whose node is not known may lead to a fit one, by a way that rolecall does not know.
    const leadsNowhere = fit.size > 0 && nodes.every((node) => node !== null && !fit.has(node));
    for (const [node, { isExpected, isElectable }] of truth.members) {
      const allowance = truth.allowances.get(node) ?? untold;
      const isWanted =
        isExpected && (isElectable || !pool.isOfPrimary) && (pool.lists === "fit" ? fit.has(node) : isAlive(allowance));
      const seen: Seen = had.has(node) || !isWanted ? "right" : truth.isComplete ? "wrong" : "untold";
      const isUnusable = leadsNowhere && fit.has(node);
      // Its server may be there, and have got the address of another node.
      const moved = servers.find(
        ({ server, address }, at) => address !== null && nodes[at] !== null && nodeByName(server, pool) === node,
      );
      this.#lack(pool, {
        subject: node,
        seen,
        server: moved?.server ?? null,
        node,
        belongsAt: moved === undefined ? null : addressByName(moved, pool, truth),
        isUnusable,
        what: `${moved?.address ? movedText(moved.address, node) : `lacks a server for ${node}`}${isUnusable ? ", and no server leads to a fit node" : ""}`,
      });
    }
  }

  #lack(
    pool: AuditedPool,
    {
      subject,
      seen,
      ...about
    }: Pick<RouteDifference, "server" | "node" | "what"> &
      Partial<Pick<RouteDifference, "belongsAt" | "isUnusable">> & { readonly subject: string; readonly seen: Seen },
  ): void {
    const key = `${pool.backend}/${subject}`;
    const delayMs = about.isUnusable === true ? unusableDelayMs : missingDelayMs;
    const look = { seen, sinceMs: -Infinity, delayMs, what: about.what };
    const before = this.#before.lacking.get(key) ?? neverLooked;
    const next = this.#follow(before, look, { ...noServer, ...about, pool, kind: "missing" });
    if (next.kind !== "right") this.#lacking.set(key, next);
  }

  /** Follows one difference. Lists it once it is found. */
  #follow(
    before: DifferencePhase,
    {
      seen,
      sinceMs,
      delayMs,
      what,
    }: { readonly seen: Seen; readonly sinceMs: number; readonly delayMs: number; readonly what: string },
    about: Omit<RouteDifference, "sinceMs" | "what">,
  ): DifferencePhase {
    const next = nextPhase(before, seen, { nowMs: this.#nowMs, sinceMs, delayMs });
    if (next.kind === "suspected") {
      if (seen === "wrong" && this.#suspected.length < listedMax)
        this.#suspected.push({ ...about, sinceMs: next.sinceMs, what });
      const atMs = Math.max(next.firstMs + confirmMs, Math.max(sinceMs, next.sinceMs) + delayMs);
      this.#againMs = Math.min(this.#againMs, atMs);
    }
    if (next.kind !== "found") return next;
    const listed = this.#listed.get(about.kind) ?? 0;
    if (listed === listedMax) return next;
    this.#listed.set(about.kind, listed + 1);
    // What is not seen now is worded as it was seen last.
    const last = seen === "wrong" ? undefined : this.#before.differences.find((one) => isSame(one, about));
    this.#differences.push({ ...about, sinceMs: next.sinceMs, what: last?.what ?? what });
    return next;
  }

  /** After a change the first count that new sessions show against is taken as soon as it means something. */
  #countAgain(allowance: Allowance, server: ServerReading, last: Counted | null): void {
    if (server.total === null || (allowance.kind !== "kept" && allowance.kind !== "none")) return;
    const fromMs = settledMs(server, allowance, this.#nowMs);
    if (last !== null && last.atMs >= fromMs) return;
    this.#againMs = Math.min(this.#againMs, this.#nowMs < fromMs ? fromMs : this.#nowMs + countAgainMs);
  }
}

const untold: Allowance = { kind: "untold" };

const unknownServer: ServerMemory = {
  node: null,
  last: null,
  window: null,
  misrouted: neverLooked,
  wasStaying: false,
  starved: neverLooked,
  foreign: neverLooked,
};

/** A node that is gone, or that is never fit for the pool, has no server to lack. */
function isAlive(allowance: Allowance): boolean {
  return allowance.kind === "new" || (allowance.kind !== "untold" && !unlistable.has(allowance.reason));
}

const unlistable: ReadonlySet<string> = new Set(["down", "tag", "noloadbalance", "misaddressed", "foreign", "moved"]);

/** Whether a server is no member, and may get sessions all the same. */
function foreignSeen({ use, sessions, address }: ServerReading, node: string | null, truth: PoolTruth): Seen {
  if (node !== null || (use !== "takes" && sessions === 0)) return "right";
  return truth.isComplete && address !== null ? "wrong" : "untold";
}

function countedOf({ sessions, endedBytes, failed }: ServerReading, total: number, atMs: number): Counted {
  return { atMs, total, sessions, endedBytes, failed };
}

function movedText(address: DatabaseAddress, node: string): string {
  return `leads to ${formatHostPort(address)}, and not to ${node} as its name says`;
}

/** Where a server leads that has the name of another member: what is said of its node is not said of that one. */
function leadsText(
  { server, address }: ServerReading,
  node: string | null,
  { pool, truth }: Pick<ComparedPool, "pool" | "truth">,
): string {
  const named = nodeByName(server, pool);
  if (node === null || named === node || address === null || !truth.members.has(named)) return "";
  return `leads to ${node} (${formatHostPort(address)}), and not to ${named} as its name says: ${node} `;
}

function foreignText({ address }: ServerReading, { cluster }: AuditedPool): string {
  return `leads to no member of ${cluster}${address === null ? "" : ` (${formatHostPort(address)})`}`;
}

function isSame(one: RouteDifference, other: Omit<RouteDifference, "sinceMs" | "what">): boolean {
  return (
    one.kind === other.kind &&
    one.pool?.backend === other.pool?.backend &&
    one.server === other.server &&
    one.node === other.node
  );
}
