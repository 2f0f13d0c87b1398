import type { EventDraft } from "../../core/events/cluster-event.ts";
import { countText, spanText } from "../../core/health/wording.ts";
import type { KnownHold } from "./conditions.ts";
import type { KeptPauses } from "./peers/pause-answer.ts";
import type { EndedSwitchover } from "./run/ended-switchover.ts";

/** Returns the event of a seamless switchover or restart that is over. A refused one has changed nothing, and is no event. */
export function endedSwitchoverEvent(ended: EndedSwitchover): EventDraft {
  const { cluster, start, outcome, text, leader, node, heldMs, forecastMs, steps, by } = ended;
  const isRestart = start === "restart";
  const what = isRestart ? `restart of ${leader} of ${cluster}` : `switchover of ${cluster} from ${leader}`;
  const isWell = outcome === (isRestart ? "restarted" : "switched");
  const forecast = forecastMs === null ? "" : ` (forecast ${spanText(forecastMs)})`;
  const held = heldMs === null ? "" : `; clients waited up to ${spanText(heldMs)}${forecast}`;
  return {
    kind: isRestart ? "restart_ended" : "switchover_ended",
    severity: isWell ? "info" : outcome === "unfinished" ? "error" : "warning",
    cluster,
    node,
    message: `a seamless ${what} is over: ${text.replace(/\.$/, "")}${held}`,
    cause: null,
    figures: {
      ...endFigures(ended),
      ...(forecastMs === null ? {} : { forecast_ms: forecastMs }),
      ...Object.fromEntries(Object.entries(steps).map(([step, ms]) => [`${step}_ms`, ms])),
      ...(by === null ? {} : { by }),
    },
  };
}

/** Returns the event of clients that are held after the loss of a primary. */
export function beganHoldEvent(
  cluster: string,
  run: string,
  { leader, limitMs, poolers, clients }: KnownHold,
): EventDraft {
  const who = `${countText(clients, "client")} of ${countText(poolers, "pooler")}`;
  return {
    kind: "hold_began",
    severity: "warning",
    cluster,
    node: null,
    message: `rolecall holds the clients of ${cluster}, ${spanText(limitMs)} at most, because ${leader} does not serve: ${who} wait`,
    cause: null,
    figures: { run, from: leader, poolers, clients, limit_ms: limitMs },
  };
}

/** Returns the event of a hold that is over. */
export function endedHoldEvent(ended: EndedSwitchover): EventDraft {
  const { cluster, outcome, text, node, heldMs, clients } = ended;
  const isWell = outcome === "switched" || outcome === "stayed";
  const held = heldMs === null ? "" : `; clients waited up to ${spanText(heldMs)}`;
  return {
    kind: "hold_ended",
    severity: isWell ? "info" : outcome === "unfinished" || outcome === "no_primary" ? "error" : "warning",
    cluster,
    node,
    message: `the clients of ${cluster} are not held any more: ${text.replace(/\.$/, "")}${held}`,
    cause: null,
    figures: {
      ...endFigures(ended),
      ...(clients === null ? {} : { clients }),
    },
  };
}

/** What the events of all runs that are over state alike. */
function endFigures({ run, outcome, leader, node, heldMs }: EndedSwitchover): EventDraft["figures"] {
  return {
    run,
    outcome,
    from: leader,
    ...(node === null ? {} : { to: node }),
    ...(heldMs === null ? {} : { held_ms: heldMs }),
  };
}

/** Returns the event of pauses of another rolecall, which this one resumes or has resumed. */
export function keptPausesEvent({ kind, cause, run, cluster, from, databases }: KeptPauses): EventDraft {
  const why = cause === "silence" ? "it sends no heartbeats any more" : "its deadline is over";
  const isBegun = kind === "taken_over";
  return {
    kind: isBegun ? "pauses_taken_over" : "pauses_lifted",
    severity: isBegun ? "warning" : "info",
    cluster,
    node: null,
    message: isBegun
      ? `rolecall resumes what another rolecall paused for a switchover of ${cluster}: ${why}`
      : `nothing is paused any more of what another rolecall paused for a switchover of ${cluster}`,
    cause: why,
    figures: { run, from, databases: databases.length, first: databases[0] ?? "" },
  };
}
