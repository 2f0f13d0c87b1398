import { countText } from "../../../core/health/wording.ts";
import type { Allowance } from "./allowance.ts";
import type { Seen } from "./phase.ts";
import type { ServerReading } from "../../../core/balancing/audited/reading.ts";

/** What one look says of one server. */
export interface Look {
  readonly seen: Seen;
  /** Since when it would be wrong, in ms of rolecall's clock. */
  readonly sinceMs: number;
  readonly delayMs: number;
  /** What is wrong, after the name of the server. */
  readonly what: string;
  /** Whether sessions stay that must end. */
  readonly isStaying: boolean;
}

/** How many sessions a server had had at a look. */
export interface Counted {
  readonly atMs: number;
  readonly total: number;
  readonly sessions: number;
  readonly endedBytes: number | null;
  readonly failed: number | null;
}

/** Since when a server got nothing new, while the same others did. */
export interface IdleWindow {
  readonly atMs: number;
  readonly total: number;
  readonly othersTotal: number;
  /** The others, and how they share: it begins anew if that changes. */
  readonly others: string;
}

/** The server of a look, and what is known around it. */
export interface SeenContext {
  readonly allowance: Allowance;
  /** At the last look; `null` before. */
  readonly last: Counted | null;
  /** Whether it is found by now that sessions stay that had to end. */
  readonly wasStaying: boolean;
  readonly nowMs: number;
  /** Whether another node may have new sessions: if none may, a soft no has nowhere to send them. */
  readonly hasOther: boolean;
  /** What is to be said of where the server leads, before what is wrong; usually nothing. */
  readonly leads: string;
  /** Whether sessions may stay after a soft no. */
  readonly keepsSessions: boolean;
}

const nothing: Look = { seen: "right", sinceMs: 0, delayMs: 0, what: "", isStaying: false };

/** Whether a server has sessions that it must not have. */
export function lookForMisrouted(server: ServerReading, context: SeenContext): Look {
  const { allowance, nowMs, wasStaying, hasOther, keepsSessions, leads } = context;
  if (allowance.kind === "untold") return { ...nothing, seen: "untold" };
  if (allowance.kind === "new") return nothing;
  const { sessions, delayMs } = server;
  const { reason } = allowance;
  // With no other node to go to, a session is better where it is, unless it does harm there.
  if (allowance.kind === "none" && !hasOther && !harmful.has(reason)) return { ...nothing, seen: "quiet" };
  const isStrict = allowance.kind === "none" || (!keepsSessions && hasOther);
  // What was found under a hard no goes on although the reason is a soft one by now, as that of an old primary is.
  if ((isStrict || wasStaying) && sessions > 0) {
    const sinceMs = allowance.kind === "none" ? allowance.againstMs : allowance.sinceMs;
    const what = `${leads}has ${countText(sessions, "session")}, and is ${reason}`;
    return { seen: "wrong", sinceMs, delayMs, what, isStaying: true };
  }
  const settledAtMs = settledMs(server, allowance, nowMs);
  const newSessions = newSince(server, context, settledAtMs);
  if (newSessions.count > 0 && (isStrict || hasOther)) {
    const what = `${leads}gets new sessions (${newSessions.count} since the last look), and is ${reason}`;
    // Where it is not sure, another look has to see new ones again.
    const when = newSessions.areSure ? { sinceMs: nowMs, delayMs: 0 } : { sinceMs: settledAtMs, delayMs: 1 };
    return { ...nothing, seen: "wrong", ...when, what };
  }
  return { ...nothing, seen: isStrict ? "right" : "quiet" };
}

/**
 * Since when nothing new may begin on a server, in ms of rolecall's clock: the mechanism has had its time since the
 * verdict changed, and since the target's own checks of the server did, as at its start.
 */
export function settledMs(
  { delayMs, unchangedMs }: ServerReading,
  { sinceMs }: { readonly sinceMs: number },
  nowMs: number,
): number {
  return Math.max(sinceMs, unchangedMs === null ? -Infinity : nowMs - unchangedMs) + delayMs;
}

/** Reasons for which a session does harm where it is, although it has nowhere else to go: it could write, or reads lies. */
const harmful: ReadonlySet<string> = new Set([
  "contested",
  "superseded",
  "stray_primary",
  "foreign",
  "misaddressed",
  "moved",
  "diverged",
  "detached",
]);

/**
 * How many sessions are known to have begun after an instant, in ms of rolecall's clock. An attempt that is under way is
 * counted as a session at first: `areSure`, these were none. An instant that stays the same says that nothing is new.
 */
function newSince(
  { total, newestAgoMs, endedBytes, failed, sessions }: ServerReading,
  { last, nowMs }: SeenContext,
  sinceMs: number,
): { readonly count: number; readonly areSure: boolean } {
  const none = { count: 0, areSure: true };
  const risen = total === null || last === null || last.atMs < sinceMs ? 0 : total - last.total;
  if (risen > 0 && last !== null) {
    const areSure = endedBytes === null || last.endedBytes === null || endedBytes > last.endedBytes;
    return areSure || sessions > last.sessions ? { count: risen, areSure } : none;
  }
  const isNewer = newestAgoMs !== null && nowMs - newestAgoMs > Math.max(sinceMs, last?.atMs ?? -Infinity);
  // HAProxy states the instant of the last attempt, whatever came of it.
  return isNewer && (failed === null || failed === (last?.failed ?? 0)) ? { count: 1, areSure: true } : none;
}

/**
 * So many new sessions a server must have been due before it counts as starved. Where each goes by chance, e^-30 is the
 * odds of none.
 */
const dueMin = 30;
/** The same where the target itself says that it sends none there: the traffic need only be some. */
const divertedMin = 3;
/** How long nobody can use a pool before that is a finding, beside what the target itself takes, in ms. */
const closedMinMs = 2_000;
/** The shortest time without a new session, in ms. */
const idleMinMs = 10_000;

/** What the servers of a pool have together. */
export interface PoolShares {
  /** Of all servers. */
  readonly total: number;
  /** Of those that are fit and take sessions: their sessions, weights, names, and the least open sessions by weight. */
  readonly takers: {
    readonly total: number;
    readonly weight: number;
    readonly key: string;
    readonly leastLoad: number;
  };
}

/** Adds up what the servers of a pool have. @param isFit whether the node of a server may have new sessions */
export function sharesOf(servers: readonly ServerReading[], isFit: (at: number) => boolean): PoolShares {
  const takers = servers.filter(({ use, weight }, at) => use === "takes" && weight > 0 && isFit(at));
  return {
    total: sum(servers.map(({ total }) => total ?? 0)),
    takers: {
      total: sum(takers.map(({ total }) => total ?? 0)),
      weight: sum(takers.map(({ weight }) => weight)),
      key: takers.map(({ server, weight }) => `${server} ${weight}`).join(" "),
      leastLoad: Math.min(Infinity, ...takers.map(({ sessions, weight }) => sessions / weight)),
    },
  };
}

/** What is known around a server that may be starved. */
export interface StarvedContext extends Pick<SeenContext, "allowance" | "nowMs" | "leads"> {
  /** Whether a server of the pool that leads to a fit node can get sessions. */
  readonly isUsable: boolean;
  readonly isShared: boolean;
  readonly shares: PoolShares;
  readonly window: IdleWindow | null;
}

/** Whether a fit server gets nothing new while others do. @returns also the window for the next look */
export function lookForStarved(
  server: ServerReading,
  { allowance, nowMs, isShared, shares, window, isUsable, leads }: StarvedContext,
): Look & { readonly window: IdleWindow | null; readonly isUnusable: boolean } {
  const { use, total, weight, delayMs, sessions, closed } = server;
  const none = { ...nothing, window: null, isUnusable: false };
  if (allowance.kind === "untold") return { ...none, seen: "untold" };
  if (allowance.kind === "new" && closed !== null && !isUsable) {
    // It does not matter who has closed it, or whether clients have come meanwhile: no client can connect.
    const what = `${leads}takes no session (${closed}), and no other server leads to a fit node`;
    return {
      ...nothing,
      seen: "wrong",
      sinceMs: allowance.sinceMs,
      delayMs: delayMs + closedMinMs,
      what,
      window: null,
      isUnusable: true,
    };
  }
  const isSettled = allowance.kind === "new" && nowMs - allowance.sinceMs >= delayMs;
  if (!isSettled || total === null || use === "held" || use === "spare") return none;
  const isDown = use === "down";
  if (!isDown && (!isShared || weight <= 0)) return none;
  const { takers } = shares;
  const now: IdleWindow = {
    atMs: nowMs,
    total,
    othersTotal: (isDown ? shares.total : takers.total) - total,
    others: isDown ? "" : takers.key,
  };
  if (window === null || !isSameWindow(window, now)) return { ...none, window: now };
  const gained = now.othersTotal - window.othersTotal;
  const due = isDown ? gained : (gained * weight) / takers.weight;
  const isStarved = due >= (isDown ? divertedMin : dueMin) && nowMs - window.atMs >= idleMinMs;
  // Where more sessions are open than elsewhere, `leastconn` sends nothing new for a while.
  const isFull = !isDown && takers.leastLoad < sessions / weight;
  if (!isStarved || isFull) return { ...none, seen: "quiet", window };
  const what = `${leads}gets no new sessions (${gained} went elsewhere), and is fit${isDown ? "; the target has it down" : ""}`;
  return { ...none, seen: "wrong", sinceMs: window.atMs, what, window };
}

function isSameWindow(window: IdleWindow, now: IdleWindow): boolean {
  return window.total === now.total && window.others === now.others && window.othersTotal <= now.othersTotal;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}
