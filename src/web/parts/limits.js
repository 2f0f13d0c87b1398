import { bytesText, durationText } from "./format.js";

/** Limits for lag, as `/clusters/{cluster}/limits` names them: `{ route, lag_bytes, lag_ms, source, of }`. */

const sourceWords = {
  checks: "checks of balancers",
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
  return of === null ? sourceWords[source] : `${sourceWords[source]} ${of}`;
}

/** How the lag of a node compares with a limit: within, over or unknown. */
export function comparison({ lag_bytes: bytes, lag_ms: ms }, { lag_bytes: bytesMax, lag_ms: msMax }) {
  const parts = [...(bytesMax === null ? [] : [[bytes, bytesMax]]), ...(msMax === null ? [] : [[ms, msMax]])];
  if (parts.some(([lag, most]) => lag !== null && lag > most)) return "over";
  return parts.some(([lag]) => lag === null) ? "unknown" : "within";
}

/** A limit in words: 10 MB, 5.0 s, or both. */
export function limitText({ lag_bytes: bytes, lag_ms: ms }) {
  return [bytes === null ? [] : bytesText(bytes), ms === null ? [] : durationText(ms)].flat().join(" and ");
}
