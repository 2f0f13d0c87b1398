import { parseInstant } from "../../cluster/values/timestamp.ts";
import { isObject, parseJson, type JsonObject } from "../../cluster/values/json.ts";
import type { ManagementCall } from "../../cluster/management-call.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterView } from "../../health/evidence/cluster-view.ts";
import { checkEligibility } from "./switchover-eligibility.ts";
import type { Refusal } from "./refusal.ts";

/** A call with its body and what is known of its cluster. */
export interface PrecheckInput {
  readonly call: ManagementCall;
  readonly body: Buffer;
  readonly view: ClusterView;
  /** The node that the call would go to. */
  readonly node: Observation;
  /** Wall time, in ms: schedules are written in it. */
  readonly wallMs: number;
}

/**
 * What a node would refuse by what is already known, with the node's own status (reference/node-api.md, "Management calls: status
 * codes"). What is not known is left to the node.
 */
export function precheck(asked: PrecheckInput): Refusal | null {
  switch (asked.call.name) {
    case "switchover":
      return asked.call.method === "POST" ? checkRoleChange(asked) : null;
    case "failover":
      return checkRoleChange(asked);
    case "config":
      return needsObject(asked).refusal;
    case "restart":
      return asked.call.method === "POST" && asked.body.length > 0 ? checkRestart(asked) : null;
    case "reinitialize":
      return checkReinitialize(asked);
    case "reload":
      return null;
  }
}

/** The order of the refusals is the nodes' own (Patroni 4.1.4, api.py, do_POST_failover). */
function checkRoleChange(asked: PrecheckInput): Refusal | null {
  const { object, refusal } = needsObject(asked);
  if (object === null) return refusal;
  const leader = nameIn(object["leader"]);
  const candidate = nameIn(object["candidate"]) ?? nameIn(object["member"]);
  const isScheduled = isSaid(object["scheduled_at"]);
  const { name } = asked.call;
  const isPaused = asked.view.cluster.nodes.some(
    ({ node, report }) => node.name === asked.node.node.name && report?.isPaused === true,
  );
  if (name === "failover" && candidate === null) return bad("Failover could be performed only to a specific candidate");
  if (name === "switchover" && leader === null) return bad("Switchover could be performed only from a specific leader");
  if (isScheduled && name === "failover") return bad("Failover can't be scheduled");
  if (isScheduled && isPaused) return bad("Can't schedule switchover in the paused state");
  if (isPaused && candidate === null)
    return bad("Switchover is possible only to a specific candidate in a paused state");
  if (isScheduled) return checkSchedule(object["scheduled_at"], "switchover", asked.wallMs);
  if (leader === candidate) return bad("Switchover target and source are the same");
  // A failover that names the leader is a switchover (seeds/node-api.md, "Switchover and failover").
  return checkEligibility(asked.view, { action: leader === null ? "failover" : "switchover", leader, candidate });
}

function checkRestart(asked: PrecheckInput): Refusal | null {
  const { object, refusal } = optionalObject(asked);
  if (object === null || object["schedule"] === undefined) return refusal;
  return checkSchedule(object["schedule"], "restart", asked.wallMs);
}

function checkReinitialize(asked: PrecheckInput): Refusal | null {
  const { refusal } = optionalObject(asked);
  if (refusal !== null) return refusal;
  return asked.view.lock.holder === asked.node.node.name
    ? { status: 503, error: "is_leader", message: `${asked.node.node.name} is the leader, can not reinitialize` }
    : null;
}

function checkSchedule(value: unknown, action: string, wallMs: number): Refusal | null {
  const instant = typeof value === "string" ? parseInstant(value) : undefined;
  if (instant === undefined) {
    const message = "Unable to parse scheduled timestamp. It should be in an unambiguous format, e.g. ISO 8601";
    return { status: 422, error: "bad_time", message };
  }
  if (!instant.hasZone) return bad(`Timezone information is mandatory for the scheduled ${action}`);
  return instant.atMs < wallMs
    ? { status: 422, error: "past_time", message: `Cannot schedule ${action} in the past` }
    : null;
}

interface ReadBody {
  readonly object: JsonObject | null;
  readonly refusal: Refusal | null;
}

/** Nodes refuse an empty object too where there has to be a body. */
function needsObject(asked: PrecheckInput): ReadBody {
  const read = optionalObject(asked);
  const isEmpty = read.object !== null && Object.keys(read.object).length === 0;
  return isEmpty
    ? { object: null, refusal: bad(`${asked.call.method} /${asked.call.name} needs a JSON object with fields in it`) }
    : read;
}

function optionalObject({ call, body }: PrecheckInput): ReadBody {
  const value = body.length === 0 ? {} : parseJson(body.toString("utf8"));
  return isObject(value)
    ? { object: value, refusal: null }
    : { object: null, refusal: bad(`The body of ${call.method} /${call.name} must be a JSON object`) };
}

function bad(message: string): Refusal {
  return { status: 400, error: "bad_request", message };
}

function nameIn(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** What nodes take for given: not null, false, 0 or "" (Python's truth). */
function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== "";
}
