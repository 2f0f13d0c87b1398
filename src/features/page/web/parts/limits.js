import { isStale } from "./condition.js";
import { bytesText, durationText, timeText } from "./format.js";

/** Limits for lag, as `/clusters/{cluster}/limits` names them: `{ route, lag_bytes, lag_ms, source, of }`. */

const sourceWords = {
  checks: "checks of balancers",
  pool: "the pool",
  defaults: "defaults of the listener",
  agent: "agent checks on",
  push: "pushes to",
  failover: "maximum_lag_on_failover of the cluster",
};

/** Limits of equal figures and route as one, with all who set it. */
export function mergedLimits(limits) {
  const merged = new Map();
  for (const limit of limits) {
    const isFailover = limit.source === "failover";
    const target = isFailover ? "a failover" : limit.route === null ? "every check" : `/${limit.route}`;
    const key = `${target} ${limit.lag_bytes} ${limit.lag_ms}`;
    const known = merged.get(key);
    if (known === undefined) merged.set(key, { key, target, ...limit, setBy: [setterOf(limit)] });
    else known.setBy.push(setterOf(limit));
  }
  return [...merged.values()];
}

function setterOf({ source, of }) {
  const words = sourceWords[source] ?? source;
  return of === null ? words : `${words} ${of}`;
}

/** What a recording knows of the limits at the shown instant, and what it does not, in words. */
export function pastLimitsText({ limits, known_at_ms: knownAtMs, is_failover_known: isFailoverKnown }) {
  const own = limits.some(({ source }) => source !== "failover");
  const words = [
    knownAtMs === null
      ? "This recording does not state the limits of checks, listeners and pushes."
      : own
        ? `The limits of checks, listeners and pushes are those of ${timeText(knownAtMs)}, when this recording was read from rolecall.`
        : `When this recording was read from rolecall (${timeText(knownAtMs)}), no check, listener or push had a limit for lag.`,
    isFailoverKnown
      ? "The limit for a failover is that of the shown instant."
      : "The limit for a failover is not known at the shown instant: no configuration of the cluster is recorded before it.",
  ];
  return words.join(" ");
}

/**
 * How the lag of a node compares with a limit, which may have a part in bytes and one in time: within, over or unknown.
 * The lag of a node whose evidence is not fresh is not known.
 */
export function comparison(node, { lag_bytes: bytesMax, lag_ms: msMax }) {
  const parts = [
    ...(bytesMax === null ? [] : [[node.lag_bytes, bytesMax]]),
    ...(msMax === null ? [] : [[node.lag_ms, msMax]]),
  ];
  if (isStale(node)) return "unknown";
  if (parts.some(([lag, most]) => lag !== null && lag > most)) return "over";
  return parts.some(([lag]) => lag === null) ? "unknown" : "within";
}

/** The part of a limit that a node exceeds, in words: 5.0 s. */
export function exceededText({ lag_bytes: bytes, lag_ms: ms }, { lag_bytes: bytesMax, lag_ms: msMax }) {
  return limitText({
    lag_bytes: bytesMax !== null && bytes > bytesMax ? bytesMax : null,
    lag_ms: msMax !== null && ms > msMax ? msMax : null,
  });
}

/** A limit in words: 10 MB, 5.0 s, or both. */
export function limitText({ lag_bytes: bytes, lag_ms: ms }) {
  return [bytes === null ? [] : bytesText(bytes), ms === null ? [] : durationText(ms)].flat().join(" and ");
}
