import { timing } from "./timing.ts";
import type { NodeTruth, Truth } from "./truth.ts";

/** The checks of a soak. Each has rules of its own below. */
export const checks = ["/primary", "/replica", "/replica?lag=1MB", "/health", "/read-only"] as const;

/** A question to rolecall with its answer. Instants in ms. */
export interface Answered {
  readonly askedMs: number;
  readonly answeredMs: number;
  readonly cluster: string;
  readonly node: string;
  readonly check: (typeof checks)[number];
  readonly status: number;
  readonly reason: string | null;
  /** The node that it says it is about. */
  readonly named: string | null;
  /** The object `rolecall` of its body; `null` if it has none. */
  readonly word: { readonly fit: boolean; readonly reason: string | null; readonly snapshot: number } | null;
}

/** The past that an answer is judged by. */
export interface Past {
  /** The looks of a span, and the last one before it. */
  between(fromMs: number, untilMs: number): readonly Truth[];
  /** The last instant at which anything but a position changed. */
  readonly changedMs: number;
}

/** Beside max_age: one interval for the probe that was sent last, one look at the truth, and 250 ms of scheduling. */
const slackMs = timing.intervalMs + timing.lookMs + 250;
/** The limit of the check with a lag, in bytes. */
const lagLimit = 1_048_576;
/**
 * How long a cluster must have been at rest until every sound node must be fit: a probe that doubled its interval up to
 * 5 s, its timeout, the rests of views (5 s) and the window of attachment.
 */
export const restMs = 5_000 + timing.timeoutMs + 5_000 + timing.attachMs;
/** The cluster that finds its nodes by seeds. */
export const discoveredCluster = "c1";
/** Faults that keep a node's API from answering in time. */
const silent = new Set(["kill", "freeze", "hang", "garbage", "slow"]);

/**
 * Finds what is wrong with an answer, by the bounds of the rules of judgement: no yes on evidence older than max_age,
 * one primary, no detached or lagging replica, and a yes for every sound node once its cluster is at rest.
 * @returns `null` if nothing is wrong
 */
export function problemWith(answer: Answered, past: Past): string | null {
  if (isForgotten(answer, past)) return null;
  return shapeProblem(answer) ?? (answer.status === 200 ? yesProblem(answer, past) : noProblem(answer, past));
}

/**
 * Whether the node may be unknown: member lists omit a node that is silent, and a reload forgets it then (rule 10), if
 * its cluster finds its nodes by seeds. Once it answers, the next member list brings it back.
 */
function isForgotten({ askedMs, answeredMs, cluster, node, status, reason }: Answered, past: Past): boolean {
  if (status !== 400 || reason !== "bad_request" || cluster !== discoveredCluster) return false;
  const looks = past.between(askedMs - restMs, answeredMs);
  return looks.some(({ nodes }) => nodes.get(node)?.faults.some((fault) => silent.has(fault)) === true);
}

function shapeProblem({ status, reason, named, node, word }: Answered): string | null {
  if (![200, 500, 503].includes(status)) return `status ${status}`;
  if (named !== node) return `the answer is about ${named}`;
  if (status === 200 ? reason !== null : reason === null) return `status ${status} with the reason ${reason}`;
  if (word === null) return null;
  if (word.fit !== (status === 200)) return `status ${status}, but fit is ${word.fit}`;
  return word.reason === reason ? null : `the reason is ${reason} in the head and ${word.reason} in the body`;
}

function yesProblem({ askedMs, answeredMs, node, check }: Answered, past: Past): string | null {
  const span = past.between(askedMs - timing.maxAgeMs - slackMs, answeredMs);
  const nodes = span.flatMap((look) => {
    const truth = look.nodes.get(node);
    return truth === undefined ? [] : [{ look, truth }];
  });
  if (nodes.length === 0) return null;
  if (nodes.every(({ truth }) => truth.faults.some((fault) => silent.has(fault)) && !isBarelySlow(truth)))
    return "a yes, but the node has not answered for longer than max_age";
  if (check === "/primary" && nodes.every(({ look }) => look.holder !== node))
    return "a yes, but the node has not held the lock for longer than max_age";
  if (check.startsWith("/replica")) {
    if (nodes.every(({ look, truth }) => look.holder === node && truth.role !== "replica"))
      return "a yes, but the node has been the primary for longer than max_age";
    if (isLongDetached(past, node, askedMs, answeredMs)) return "a yes, but the node has been detached";
  }
  const limit = lagLimit + (timing.walBytesPerSecond * (timing.maxAgeMs + slackMs)) / 1_000;
  const lags = check === "/replica?lag=1MB" && nodes.every(({ look, truth }) => lagOf(look, truth) > limit);
  return lags ? "a yes, but its lag has been above the limit and its stated error" : null;
}

/** A slow node of a soak answers within the timeout, so it is never stale. */
function isBarelySlow({ faults }: NodeTruth): boolean {
  return faults.includes("slow") && !faults.some((fault) => fault !== "slow" && silent.has(fault));
}

function lagOf({ position }: Truth, { replayed }: NodeTruth): number {
  return position - replayed;
}

/** Whether it was detached for the whole window and the evidence after it, under one sound leader that wrote WAL. */
function isLongDetached(past: Past, node: string, askedMs: number, answeredMs: number): boolean {
  const fromMs = askedMs - timing.attachMs - 2 * timing.maxAgeMs - slackMs - 2_000;
  const span = past.between(fromMs, answeredMs);
  const [first] = span;
  if (first === undefined || first.atMs > fromMs || first.holder === null) return false;
  return span.every(({ holder, nodes }) => {
    const leader = nodes.get(holder ?? "");
    const { faults = [], timeline } = nodes.get(node) ?? {};
    return (
      holder === first.holder &&
      holder !== node &&
      faults.includes("detach") &&
      leader?.faults.length === 0 &&
      leader.state === "running" &&
      leader.role !== "replica" &&
      timeline === leader.timeline
    );
  });
}

/** A sound node of a cluster at rest gets a yes for what it is. */
function noProblem({ askedMs, answeredMs, node, check, status, reason }: Answered, past: Past): string | null {
  if (past.changedMs > askedMs - restMs) return null;
  const span = past.between(askedMs - restMs, answeredMs);
  const last = span.at(-1);
  const truth = last?.nodes.get(node);
  const leader = last?.nodes.get(last.holder ?? "");
  if (last === undefined || truth === undefined || leader?.faults.length !== 0 || truth.faults.length > 0) return null;
  if (truth.state !== "running" || truth.motion !== null || leader.state !== "running") return null;
  if (last.drained.has(node)) return reason === "drained" || isOtherRole(last, truth, check) ? null : `${reason}`;
  if (isOtherRole(last, truth, check))
    return reason === "wrong_role" ? null : `the reason must be wrong_role: ${reason}`;
  if (truth.timeline !== leader.timeline && last.holder !== node) return null;
  if (check === "/replica?lag=1MB" && lagOf(last, truth) > lagLimit / 2) return null;
  return `${status} ${reason}, but the node is sound and its cluster has been at rest for ${restMs} ms`;
}

function isOtherRole({ holder }: Truth, { name }: NodeTruth, check: string): boolean {
  return check === "/primary" ? holder !== name : check.startsWith("/replica") && holder === name;
}
