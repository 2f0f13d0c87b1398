import { seeField } from "../config/reason-link.ts";
import { conditions } from "../health/conditions/conditions.ts";
import type { Reason } from "../health/reason.ts";
import type { ClusterEvent, EventDraft, EventKind, EventSeverity } from "./cluster-event.ts";
import type { Logger } from "../log/logger.ts";
import type { VerdictChange } from "./verdict-changes.ts";

const levels: { readonly [severity in EventSeverity]: "error" | "warn" | "info" } = {
  error: "error",
  warning: "warn",
  info: "info",
};

/** The reasons that events stand for: a log line refers to their explanation. */
const reasons: ReadonlyMap<EventKind, Reason> = new Map(
  conditions.flatMap(({ events }) => (events?.reason === undefined ? [] : [[events.begins, events.reason] as const])),
);

/**
 * Logs an event in one line, at the level of its severity.
 * @param more further fields, such as the verdicts of the node that changed with it
 */
export function logEvent(log: Logger, event: EventDraft & Pick<Partial<ClusterEvent>, "id">, more: object = {}): void {
  const { kind, id, severity, cluster, node, message, cause, figures } = event;
  const fields = {
    event: kind,
    ...(id === undefined ? {} : { id }),
    ...(cluster === null ? {} : { cluster }),
    ...(node === null ? {} : { node }),
    ...(cause === null ? {} : { cause }),
    ...figures,
    ...more,
    ...seeField(reasons.get(kind) ?? null),
  };
  log[levels[severity]](fields, message);
}

/** The verdicts of a node before and after a change, as fields of a log line. */
export function verdictFields({ before, after }: VerdictChange): object {
  return { ...after, ...(before === null ? {} : { before }) };
}

/**
 * Logs a change of role, verdict or reachability that is no event. A claim beside an accepted one is one at the level
 * debug: half of all switchovers are seen on the new primary first, and claims that stay are the event
 * `claims_conflict`.
 */
export function logVerdictChange(log: Logger, change: VerdictChange): void {
  const { cluster, node, before, after, failure, reason, detail, lagBytes } = change;
  const fields = {
    cluster,
    node,
    ...verdictFields(change),
    ...(after.isReachable || failure === null ? {} : { failure }),
    ...(reason === null ? {} : { reason }),
    ...(detail === null || detail === failure ? {} : { detail }),
    ...(lagBytes === null ? {} : { lag_bytes: lagBytes }),
    ...seeField(reason),
  };
  log[after.primary === "superseded" ? "debug" : "info"](fields, lineText(before, after));
}

function lineText(before: VerdictChange["before"], after: VerdictChange["after"]): string {
  if (before === null) return "node seen";
  if (before.isReachable !== after.isReachable)
    return after.isReachable ? "node answers again" : "node does not answer";
  return before.role === after.role ? "verdict changed" : "role changed";
}
