import { countText } from "../../health/documents/wording.ts";
import type { Allowance } from "./allowance.ts";
import type { Seen } from "./phase.ts";
import type { ServerReading } from "./reading.ts";

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
  /** Whether sessions may stay after a soft no. */
  readonly keepsSessions: boolean;
}

const nothing: Look = { seen: "right", sinceMs: 0, delayMs: 0, what: "", isStaying: false };

/** Whether a server has sessions that it must not have. */
export function lookForMisrouted(server: ServerReading, context: SeenContext): Look {
  const { allowance, nowMs, wasStaying, hasOther, keepsSessions } = context;
  if (allowance.kind === "untold") return { ...nothing, seen: "untold" };
  if (allowance.kind === "new") return nothing;
  const { sessions, delayMs } = server;
  const { reason } = allowance;
  const isStrict = allowance.kind === "none" || (!keepsSessions && hasOther);
  // What was found under a hard no goes on although the reason is a soft one by now, as that of an old primary is.
  if ((isStrict || wasStaying) && sessions > 0) {
    const sinceMs = allowance.kind === "none" ? allowance.againstMs : allowance.sinceMs;
    const what = `has ${countText(sessions, "session")}, and is ${reason}`;
    return { seen: "wrong", sinceMs, delayMs, what, isStaying: true };
  }
  const newSessions = newSince(server, context, settledMs(server, allowance, nowMs));
  if (newSessions > 0 && (isStrict || hasOther)) {
    const what = `gets new sessions (${newSessions} since the last look), and is ${reason}`;
    return { ...nothing, seen: "wrong", sinceMs: nowMs, what };
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

/** How many sessions are known to have begun after an instant, in ms of rolecall's clock. */
function newSince({ total, newestAgoMs }: ServerReading, { last, nowMs }: SeenContext, sinceMs: number): number {
  const risen = total === null || last === null || last.atMs < sinceMs ? 0 : total - last.total;
  if (risen > 0) return risen;
  return newestAgoMs !== null && nowMs - newestAgoMs > sinceMs ? 1 : 0;
}

/**
 * So many new sessions a server must have been due before it counts as starved. Where each goes by chance, e^-30 is the
 * odds of none.
 */
const dueMin = 30;
/** The same where the target itself says that it sends none there: the traffic need only be some. */
const divertedMin = 3;
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
export interface StarvedContext extends Pick<SeenContext, "allowance" | "nowMs"> {
  readonly isShared: boolean;
  readonly shares: PoolShares;
  readonly window: IdleWindow | null;
}

/** Whether a fit server gets nothing new while others do. @returns also the window for the next look */
export function lookForStarved(
  { use, total, weight, delayMs, sessions }: ServerReading,
  { allowance, nowMs, isShared, shares, window }: StarvedContext,
): Look & { readonly window: IdleWindow | null } {
  const none = { ...nothing, window: null };
  if (allowance.kind === "untold") return { ...none, seen: "untold" };
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
  const what = `gets no new sessions (${gained} went elsewhere), and is fit${isDown ? "; the target has it down" : ""}`;
  return { ...nothing, seen: "wrong", sinceMs: window.atMs, what, window };
}

function isSameWindow(window: IdleWindow, now: IdleWindow): boolean {
  return window.total === now.total && window.others === now.others && window.othersTotal <= now.othersTotal;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}
