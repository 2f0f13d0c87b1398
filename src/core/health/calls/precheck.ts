import { parseInstant } from "../../cluster/values/timestamp.ts";
import { isObject, parseJson, type JsonObject } from "../../cluster/values/json.ts";
import type { ManagementCall } from "../../cluster/management-call.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { checkEligibility } from "./switchover-eligibility.ts";
import type { Refusal } from "./refusal.ts";

/** A call, its body, and the evidence about its cluster. */
export interface PrecheckInput {
  readonly call: ManagementCall;
  readonly body: Buffer;
  readonly view: ClusterView;
  /** The node that would receive the call. */
  readonly target: Observation;
  /** Milliseconds since the epoch: schedules are wall-clock times. */
  readonly wallMs: number;
}

/**
 * Returns the refusal that the node would send, judging by the current evidence, with the status it would use
 * (docs/management.md). If the evidence is insufficient, the node decides.
 */
export function precheck(input: PrecheckInput): Refusal | null {
  switch (input.call.name) {
    case "switchover":
      return input.call.method === "POST" ? checkRoleChange(input) : null;
    case "failover":
      return checkRoleChange(input);
    case "config":
      return requiredObject(input).refusal;
    case "restart":
      return input.call.method === "POST" && input.body.length > 0 ? checkRestart(input) : null;
    case "reinitialize":
      return checkReinitialize(input);
    case "reload":
      return null;
  }
}

/** Refuses in the order in which nodes do (Patroni 4.1.4, api.py, do_POST_failover). */
function checkRoleChange(input: PrecheckInput): Refusal | null {
  const { object, refusal } = requiredObject(input);
  if (object === null) return refusal;
  const leader = nameIn(object["leader"]);
  const candidate = nameIn(object["candidate"]) ?? nameIn(object["member"]);
  const isScheduled = isTruthy(object["scheduled_at"]);
  const { name } = input.call;
  const isPaused = input.view.cluster.nodes.some(
    ({ node, report }) => node.name === input.target.node.name && report?.isPaused === true,
  );
  if (name === "failover" && candidate === null)
    return badRequest("Failover could be performed only to a specific candidate");
  if (name === "switchover" && leader === null)
    return badRequest("Switchover could be performed only from a specific leader");
  if (isScheduled && name === "failover") return badRequest("Failover can't be scheduled");
  if (isScheduled && isPaused) return badRequest("Can't schedule switchover in the paused state");
  if (isPaused && candidate === null)
    return badRequest("Switchover is possible only to a specific candidate in a paused state");
  if (isScheduled) return checkSchedule(object["scheduled_at"], "switchover", input.wallMs);
  if (leader === candidate) return badRequest("Switchover target and source are the same");
  // A failover that names the leader is a switchover, as on a node.
  return checkEligibility(input.view, { action: leader === null ? "failover" : "switchover", leader, candidate });
}

function checkRestart(input: PrecheckInput): Refusal | null {
  const { object, refusal } = optionalObject(input);
  if (object === null || object["schedule"] === undefined) return refusal;
  return checkSchedule(object["schedule"], "restart", input.wallMs);
}

function checkReinitialize(input: PrecheckInput): Refusal | null {
  const { refusal } = optionalObject(input);
  if (refusal !== null) return refusal;
  return input.view.lock.holder === input.target.node.name
    ? { status: 503, error: "is_leader", message: `${input.target.node.name} is the leader, can not reinitialize` }
    : null;
}

function checkSchedule(value: unknown, action: string, wallMs: number): Refusal | null {
  const instant = typeof value === "string" ? parseInstant(value) : undefined;
  if (instant === undefined) {
    const message = "Unable to parse scheduled timestamp. It should be in an unambiguous format, e.g. ISO 8601";
    return { status: 422, error: "bad_time", message };
  }
  if (!instant.hasZone) return badRequest(`Timezone information is mandatory for the scheduled ${action}`);
  return instant.atMs < wallMs
    ? { status: 422, error: "past_time", message: `Cannot schedule ${action} in the past` }
    : null;
}

interface ParsedBody {
  readonly object: JsonObject | null;
  readonly refusal: Refusal | null;
}

/** Nodes also refuse an empty object if a body is required. */
function requiredObject(input: PrecheckInput): ParsedBody {
  const read = optionalObject(input);
  const isEmpty = read.object !== null && Object.keys(read.object).length === 0;
  return isEmpty
    ? {
        object: null,
        refusal: badRequest(`${input.call.method} /${input.call.name} needs a JSON object with at least one field`),
      }
    : read;
}

function optionalObject({ call, body }: PrecheckInput): ParsedBody {
  const value = body.length === 0 ? {} : parseJson(body.toString("utf8"));
  return isObject(value)
    ? { object: value, refusal: null }
    : { object: null, refusal: badRequest(`The body of ${call.method} /${call.name} must be a JSON object`) };
}

function badRequest(message: string): Refusal {
  return { status: 400, error: "bad_request", message };
}

function nameIn(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Whether Python takes a JSON value for true: not null, false, 0 or "". An absent value is false. */
function isTruthy(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== "";
}
