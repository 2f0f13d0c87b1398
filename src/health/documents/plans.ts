import type { Report } from "../../cluster/documents/report.ts";
import type { CachedDocument } from "../../cluster/snapshot.ts";
import { isObject, nameOf, parseJson } from "../../cluster/values/json.ts";

/** A switchover that the cluster will do by itself. */
export interface ScheduledSwitchover {
  /** A timestamp as the node writes it. */
  readonly at: string;
  readonly from: string | null;
  /** `null` if the cluster chooses. */
  readonly to: string | null;
}

/**
 * Reads the scheduled switchover from the `/cluster` document that is served from memory.
 * @param served the document of any age; `null` if none was received
 */
export function scheduledSwitchover(served: CachedDocument | null): ScheduledSwitchover | null {
  if (served === null || served.status !== 200 || !served.body.includes('"scheduled_switchover"')) return null;
  const document = parseJson(served.body);
  const plan = isObject(document) ? document["scheduled_switchover"] : undefined;
  const at = isObject(plan) ? nameOf(plan["at"]) : null;
  return isObject(plan) && at !== null ? { at, from: nameOf(plan["from"]), to: nameOf(plan["to"]) } : null;
}

/** Reads from a node's status document whether the node needs a restart, and when one is scheduled. */
export function restartPlan(report: Report | null): {
  readonly pending_restart: boolean;
  readonly scheduled_restart: string | null;
} {
  const none = { pending_restart: false, scheduled_restart: null };
  if (report === null || !/"(?:pending|scheduled)_restart"/.test(report.document)) return none;
  const document = parseJson(report.document);
  if (!isObject(document)) return none;
  const plan = document["scheduled_restart"];
  return {
    pending_restart: document["pending_restart"] === true,
    scheduled_restart: isObject(plan) ? nameOf(plan["schedule"]) : null,
  };
}
