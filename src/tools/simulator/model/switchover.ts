import { type Cluster, leaderOf, membersOf, wakeLoops } from "./cluster.ts";
import type { SimulatorJson, SimulatorObject } from "./json.ts";
import { type CallOutcome, reply } from "./outcome.ts";
import { mayLead } from "./race.ts";
import { parseSchedule } from "./timestamp.ts";

/** The parameters of a switchover or failover. */
interface SwitchoverRequest {
  /** The path of the request. A failover that names the leader has the effect of a switchover. */
  readonly path: "switchover" | "failover";
  readonly leader: string | undefined;
  readonly candidate: string | undefined;
  readonly scheduledAt: SimulatorJson | undefined;
}

/**
 * `POST /switchover` and `POST /failover`: 200 done, 202 scheduled, 400 for invalid parameters, 412 if it is not
 * possible, 422 for an invalid time, 503 if it did not complete. The texts and the order of checks are those of Patroni
 * 4.1.4, api.py, do_POST_failover.
 */
export function switchOver(cluster: Cluster, path: "switchover" | "failover", body: SimulatorObject): CallOutcome {
  const request: SwitchoverRequest = {
    path,
    leader: nameOf(body["leader"]),
    candidate: nameOf(body["candidate"]) ?? nameOf(body["member"]),
    scheduledAt: isTruthyInPython(body["scheduled_at"]) ? body["scheduled_at"] : undefined,
  };
  const problem = parameterError(cluster, request);
  if (problem !== undefined) return reply(400, problem);
  // A failover that names the leader is a switchover from here on. The checks of `parameterError` go by the path.
  const action = request.leader === undefined ? path : "switchover";
  const schedule =
    request.scheduledAt === undefined ? undefined : parseSchedule(request.scheduledAt, action, cluster.nowMs);
  if (schedule?.kind === "invalid") return reply(schedule.status, schedule.text);
  if (request.leader === request.candidate) return reply(400, "Switchover target and source are the same");
  const ineligible = schedule === undefined ? ineligibility(cluster, request, action) : undefined;
  if (ineligible !== undefined) return reply(412, ineligible);
  cluster.failover = { leader: request.leader, candidate: request.candidate, scheduledAtMs: schedule?.atMs };
  wakeLoops(cluster, 0);
  return schedule === undefined
    ? waitForLeader(cluster, action, request.candidate)
    : reply(202, "Switchover scheduled");
}

/** `DELETE /switchover`: 200 if a scheduled one was removed, 404 if there was none. */
export function cancelSwitchover(cluster: Cluster): CallOutcome {
  if (cluster.failover?.scheduledAtMs === undefined) return reply(404, "no switchover is scheduled");
  cluster.failover = undefined;
  return reply(200, "scheduled switchover deleted");
}

function parameterError(cluster: Cluster, request: SwitchoverRequest): string | undefined {
  const { path, leader, candidate, scheduledAt } = request;
  const { pause } = cluster.settings;
  if (path === "failover" && candidate === undefined) return "Failover could be performed only to a specific candidate";
  if (path === "switchover" && leader === undefined) return "Switchover could be performed only from a specific leader";
  if (scheduledAt !== undefined && path === "failover") return "Failover can't be scheduled";
  if (scheduledAt !== undefined && pause) return "Can't schedule switchover in the paused state";
  if (pause && candidate === undefined) return "Switchover is possible only to a specific candidate in a paused state";
  return undefined;
}

/** Returns why no node could take over, or `undefined` (Patroni 4.1.4 api.py, is_failover_possible). */
function ineligibility(cluster: Cluster, { leader, candidate }: SwitchoverRequest, action: string): string | undefined {
  if (leader !== undefined && cluster.lock?.holder !== leader) return "leader name does not match";
  const members = membersOf(cluster);
  const needsSync = cluster.settings.synchronousMode === "on";
  if (candidate !== undefined) {
    if (action === "switchover" && needsSync && !cluster.sync.includes(candidate))
      return "candidate name does not match with sync_standby";
    const node = members.find((member) => member.name === candidate);
    if (node === undefined) return "candidate does not exists";
    return mayLead(node) ? undefined : `${action} is not possible: no good candidates have been found`;
  }
  const others = members.filter(
    (node) => node !== leaderOf(cluster) && (!needsSync || cluster.sync.includes(node.name)),
  );
  if (others.length === 0) {
    const lack = needsSync ? "can not find sync_standby" : "cluster does not have members except leader";
    return `${action} is not possible: ${lack}`;
  }
  return others.some(mayLead) ? undefined : `${action} is not possible: no good candidates have been found`;
}

/**
 * Waits until another node holds the lock. `poll` returns `undefined` while the wait goes on, and a failure once the
 * cluster has dropped the request.
 */
function waitForLeader(cluster: Cluster, action: string, candidate: string | undefined): CallOutcome {
  const before = cluster.lock?.holder;
  const title = action === "switchover" ? "Switchover" : "Failover";
  // Without "over" the words become past tense: "Switched over", "Failed over".
  const poll = (): { status: number; text: string } | undefined => {
    const holder = cluster.lock?.holder;
    if (holder !== undefined && holder !== before) {
      const done = candidate === undefined || candidate === holder;
      const instead = `${title.slice(0, -4)}ed over to "${holder}" instead of "${candidate ?? ""}"`;
      return { status: 200, text: done ? `Successfully ${action.slice(0, -4)}ed over to "${holder}"` : instead };
    }
    return cluster.failover === undefined ? { status: 503, text: `${title} failed` } : undefined;
  };
  const waitMs = 2 * Math.max(10_000, cluster.settings.loopWaitMs);
  return {
    kind: "wait",
    poll,
    untilMs: cluster.nowMs + waitMs,
    timeoutReply: { status: 503, text: `${title} status unknown` },
  };
}

function nameOf(value: SimulatorJson | undefined): string | undefined {
  if (!isTruthyInPython(value)) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Whether a value is true in Python: not null, false, 0, "", [] or {}. */
function isTruthyInPython(value: SimulatorJson | undefined): boolean {
  return value !== undefined && ![`null`, `false`, `0`, `""`, `[]`, `{}`].includes(JSON.stringify(value));
}
