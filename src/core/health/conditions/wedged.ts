import type { DiskWait } from "../../cluster/exporter/exporter-evidence.ts";
import type { Liveness, Observation } from "../../cluster/observation.ts";
import { formatByteSize } from "../../cluster/values/byte-size.ts";
import { formatLsn } from "../../cluster/values/lsn.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { isHeard, lockTtlMs, loopWaitMs } from "../evidence/node/freshness.ts";
import { nodeMarks } from "../evidence/node/plans.ts";
import { isYoung } from "../evidence/position/exporter-position.ts";
import { acceptedPrimary } from "../rules/accepted-primary.ts";
import { countText, spanText } from "../wording.ts";
import type { ClusterFacts } from "./cluster-facts.ts";
import { type Condition, oneCase, type Case } from "./condition.ts";
import { keptWithoutDcs, reachesDcsSteadily, slackMs } from "./dcs.ts";
import { foundEnds } from "./event-kinds.ts";

/** A primary that only looks alive (docs/judgement.md, rule 14). */
export interface Wedged {
  readonly node: string;
  /** Since when the evidence says so, in ms of rolecall's clock. */
  readonly sinceMs: number;
  /** What shows it: one clause at least. */
  readonly signs: readonly string[];
  /** What else is wrong with the node. It shows nothing alone. */
  readonly beside: readonly string[];
}

/** One sign, enough alone. */
interface Sign {
  readonly text: string;
  readonly sinceMs: number;
}

/** On how many pages in a row clients must wait for the disk while nothing reaches it, and for how long at least, in ms. */
const leastPages = 3;
const leastMs = 1_500;

/**
 * How much WAL in memory the WAL writer always puts on the disk within a second, in bytes: two whole pages. Less may
 * stay in memory for {@link unflushedMs} while a transaction is open.
 */
const wholePagesBytes = 16_384;

/**
 * For how long less WAL than that may wait for the disk, in ms. The background writer logs the running transactions
 * every 15 s and sleeps for up to 10 s; the WAL writer then writes all that is in memory.
 */
const unflushedMs = 30_000;

/**
 * Whether the primary looks alive and is not: its answers are those of a primary, so its verdict stays, but no client
 * can commit, or its Patroni has stopped working.
 * @returns `null` if nothing shows it, or no node is the primary
 */
export function wedgedPrimary(view: ClusterView): Wedged | null {
  // Most clusters have no node with a sign, and need no judgement of who the primary is.
  if (!view.cluster.nodes.some((node) => hasSign(view, node))) return null;
  const primary = acceptedPrimary(view);
  const signs = primary === null ? [] : signsOf(view, primary);
  if (primary === null || signs.length === 0) return null;
  return {
    node: primary.node.name,
    sinceMs: Math.min(...signs.map(({ sinceMs }) => sinceMs)),
    signs: signs.map(({ text }) => text),
    beside: besideOf(primary),
  };
}

function hasSign(view: ClusterView, node: Observation): boolean {
  if (!isHeard(view, node)) return false;
  return diskSign(view, node) !== null || heartbeatSign(view, node) !== null || dcsSign(view, node) !== null;
}

/** What shows that a node would only look alive, if it is the primary. */
function signsOf(view: ClusterView, node: Observation): readonly Sign[] {
  if (!isHeard(view, node)) return [];
  return [diskSign(view, node), heartbeatSign(view, node), dcsSign(view, node)].filter((sign) => sign !== null);
}

/**
 * Whether it cannot be told if a primary that was wedged works again: nobody is the primary, or what showed it is too old
 * and nothing newer has come.
 */
export function isWedgedUnknown(view: ClusterView, node: string | null): boolean {
  const primary = acceptedPrimary(view);
  if (primary === null || primary.node.name !== node) return primary === null;
  const { exporter, liveness } = primary;
  const isPageOld = exporter !== null && exporter.diskWait !== null && !isYoung(primary, view);
  return isPageOld || (liveness !== null && !liveness.isAlive && !isAnswerYoung(view, liveness));
}

function isAnswerYoung({ policy, nowMs }: ClusterView, { sentAtMs }: Liveness): boolean {
  return nowMs < sentAtMs + policy.livenessMaxAgeMs;
}

/** Says what is wrong, for the end of `pg1`. */
export function wedgedText({ signs, beside }: Wedged): string {
  return `looks alive, but ${[...signs, ...beside].join("; ")}`;
}

/** The warning of one node: that it is the primary and only looks alive; else `null`. */
export function wedgedWarning(view: ClusterView, observation: Observation): string | null {
  const wedged = hasSign(view, observation) ? wedgedPrimary(view) : null;
  return wedged?.node === observation.node.name ? wedgedText(wedged) : null;
}

/**
 * Clients wait for the disk, page after page, and nothing reaches it. That the position stands still shows nothing
 * alone: an idle primary's does.
 */
function diskSign(view: ClusterView, observation: Observation): Sign | null {
  const { exporter, report } = observation;
  if (exporter === null || exporter.diskWait === null || !isYoung(observation, view)) return null;
  const { diskWait, pageSentAtMs } = exporter;
  const reported = report?.location ?? null;
  if (!isLasting(diskWait, pageSentAtMs) || (reported !== null && reported > diskWait.position)) return null;
  return { text: diskText(diskWait, view.nowMs), sinceMs: diskWait.sinceMs };
}

function isLasting({ kind, pages, unflushedBytes, sinceMs }: DiskWait, pageSentAtMs: number): boolean {
  const lastsMs = pageSentAtMs - sinceMs;
  if (pages < leastPages || lastsMs < leastMs) return false;
  return kind !== "unflushed" || unflushedBytes >= wholePagesBytes || lastsMs >= unflushedMs;
}

function diskText({ kind, sessions, position, unflushedBytes, sinceMs }: DiskWait, nowMs: number): string {
  const clients = `${countText(sessions, "session")} ${sessions === 1 ? "waits" : "wait"}`;
  const span = spanText(nowMs - sinceMs);
  const standing = `its position has stood still at ${formatLsn(position)} for ${span}`;
  switch (kind) {
    case "wal":
      return `${clients} for WAL to be written to its disk, and ${standing}`;
    case "files":
      return `${clients} for a data file to grow on its disk; none has, and ${standing}`;
    case "unflushed":
      return `${clients}, and ${formatByteSize(unflushedBytes)} of WAL in memory has not reached its disk for ${span}`;
  }
}

/**
 * Patroni's loop has not run for a whole `ttl`, and its API still answers as a primary. Twice in a row: a Patroni that
 * was frozen answers so for a moment when it thaws.
 */
function heartbeatSign(view: ClusterView, { liveness }: Observation): Sign | null {
  if (liveness === null || liveness.isAlive || !isAnswerYoung(view, liveness)) return null;
  if (liveness.sinceMs === liveness.sentAtMs) return null;
  return { text: "the loop of its Patroni does not run (`/liveness` is 503)", sinceMs: liveness.sinceMs };
}

/**
 * It has not reached the DCS for longer than a working Patroni would stay the primary, while another node goes on reaching
 * it, and neither a pause nor failsafe mode keeps it.
 */
function dcsSign(view: ClusterView, { dcsContact, sentAtMs, hasLock }: Observation): Sign | null {
  if (dcsContact === null || !hasLock) return null;
  const limitMs = lockTtlMs(view.cluster) - loopWaitMs(view.cluster) + slackMs;
  if (sentAtMs - dcsContact.statedSinceMs < limitMs) return null;
  if (keptWithoutDcs(view) !== null || !view.cluster.nodes.some((node) => reachesDcsSteadily(view, node))) return null;
  const silent = spanText(view.nowMs - dcsContact.statedSinceMs);
  return {
    text: `its Patroni has not reached the DCS for ${silent}, though another node does, and it stays the primary`,
    sinceMs: dcsContact.statedSinceMs,
  };
}

function besideOf({ report, exporter }: Observation): readonly string[] {
  const failure = exporter?.pageFailure ?? null;
  return [
    ...(nodeMarks(report).watchdog_failed ? ["its watchdog has failed"] : []),
    ...(failure === null ? [] : [`its exporter does not answer (${failure.detail})`]),
    ...(failure === null && exporter?.page?.isUp === false ? ["its exporter cannot query the database"] : []),
  ];
}

/** The primary only looks alive. Its verdict stays: no other node could take the writes. */
export const wedged = {
  id: "wedged",
  title: "the primary only looks alive",
  harm: "stuck",
  events: {
    begins: "wedged",
    ends: foundEnds.wedged,
    severities: ["error"],
    holds: wedgedFound,
    endText: (cluster: string, node: string | null) => `${node} of ${cluster} works again, or is not the primary`,
    isEndKnown: ({ view }: ClusterFacts, node: string | null) => !isWedgedUnknown(view, node),
  },
  status: { within: "node_warned" },
  ofNode: {
    warning: wedgedWarning,
    isRemark: true,
    isOf: ({ warning }, view, observation) => warning !== null && warning === wedgedWarning(view, observation),
    sinceMs: (view) => wedgedPrimary(view)?.sinceMs ?? null,
    advice: ({ node }) => ({
      next: "it keeps the writes while it holds the lock: no other node could take them",
      action: `Look at the disk of ${node} and at the log of its Patroni; if it does not recover, fail over`,
    }),
  },
  alerts: ["RolecallPrimaryWedged"],
} as const satisfies Condition;

function wedgedFound({ cluster, view, nowMs }: ClusterFacts): readonly Case[] {
  const found = wedgedPrimary(view);
  if (found === null) return [];
  const { node, sinceMs, signs, beside } = found;
  return [
    oneCase({
      severity: "error",
      node,
      message: `${node} of ${cluster} ${wedgedText(found)}`,
      cause: signs.join("; "),
      figures: { signs: signs.length, beside: beside.length, for_ms: Math.round(nowMs - sinceMs) },
      sinceMs,
    }),
  ];
}
