import { drainFields, type DrainChange, type DrainExtent } from "../cluster/drain.ts";
import type { EventDraft } from "./cluster-event.ts";

/** Returns the event of a drain that begins or ends. */
export function drainEvent({ kind, cluster, node, drain, endedBy }: DrainChange): EventDraft {
  const { reason, by, extent, until } = drain;
  const end = kind === "expired" ? "its time is over" : `ended${endedBy === null ? "" : ` by ${endedBy}`}`;
  const isBegun = kind === "begun";
  return {
    kind: extent === "distrust" ? (isBegun ? "distrusted" : "trusted") : isBegun ? "drained" : "undrained",
    severity: isBegun ? "warning" : "info",
    cluster,
    node,
    message: isBegun
      ? `${node} of ${cluster} is ${begunTexts[extent]} until ${until}: ${reason}`
      : `${node} of ${cluster} is no longer ${extent === "distrust" ? "distrusted" : "drained"}: ${end}`,
    cause: reason,
    figures: { until, routes: extent === "replica" ? "replica" : "all", ...(by === null ? {} : { by }) },
  };
}

const begunTexts: Readonly<Record<DrainExtent, string>> = {
  replica: "drained",
  all: "drained from all routes",
  distrust: "distrusted, and what it states counts for nothing,",
};

/** The audit fields of a drain's log line: what, by whom, until when. */
export function drainAudit({ kind, drain, endedBy }: DrainChange): object {
  return { audit: true, ...drainFields(drain), ...(kind === "ended" ? { ended_by: endedBy } : {}) };
}
