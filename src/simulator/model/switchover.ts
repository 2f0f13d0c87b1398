import { type Cluster, leaderOf, membersOf, wakeLoops } from "./cluster.ts";
import type { SimulatorJson, SimulatorObject } from "./json.ts";
import { type CallOutcome, reply } from "./outcome.ts";
import { isEligibleToStand } from "./race.ts";
import { parseSchedule } from "./timestamp.ts";

interface Asked {
  readonly action: "switchover" | "failover";
  readonly leader: string | undefined;
  readonly candidate: string | undefined;
  readonly scheduledAt: SimulatorJson | undefined;
}

/**
 * `POST /switchover` and `POST /failover`: 200 when done, 202 scheduled, 400 not understood, 412 not possible, 422 bad time, 503 not
 * completed; texts and the order of the refusals as in Patroni 4.1.4 api.py, do_POST_failover.
 */
export function switchOver(cluster: Cluster, path: "switchover" | "failover", body: SimulatorObject): CallOutcome {
  const asked: Asked = {
    action: path,
    leader: nameIn(body["leader"]),
    candidate: nameIn(body["candidate"]) ?? nameIn(body["member"]),
    scheduledAt: isGiven(body["scheduled_at"]) ? body["scheduled_at"] : undefined,
  };
  const misunderstood = mistakeIn(cluster, asked);
  if (misunderstood !== undefined) return reply(400, misunderstood);
  // A failover that names the leader is a switchover (seed, POST /failover).
  const action = asked.leader === undefined ? path : "switchover";
  const schedule =
    asked.scheduledAt === undefined ? undefined : parseSchedule(asked.scheduledAt, action, cluster.nowMs);
  if (schedule?.kind === "refused") return reply(schedule.status, schedule.text);
  if (asked.leader === asked.candidate) return reply(400, "Switchover target and source are the same");
  const obstacle = schedule === undefined ? obstacleTo(cluster, asked, action) : undefined;
  if (obstacle !== undefined) return reply(412, obstacle);
  cluster.failover = { leader: asked.leader, candidate: asked.candidate, scheduledAtMs: schedule?.atMs };
  wakeLoops(cluster, 0);
  return schedule === undefined ? untilLed(cluster, action, asked.candidate) : reply(202, "Switchover scheduled");
}

/** `DELETE /switchover`: 200 when a scheduled one was removed, 404 when there was none. */
export function cancelSwitchover(cluster: Cluster): CallOutcome {
  if (cluster.failover?.scheduledAtMs === undefined) return reply(404, "no switchover is scheduled");
  cluster.failover = undefined;
  return reply(200, "scheduled switchover deleted");
}

function mistakeIn(cluster: Cluster, asked: Asked): string | undefined {
  const { action, leader, candidate, scheduledAt } = asked;
  const { pause } = cluster.settings;
  if (action === "failover" && candidate === undefined)
    return "Failover could be performed only to a specific candidate";
  if (action === "switchover" && leader === undefined)
    return "Switchover could be performed only from a specific leader";
  if (scheduledAt !== undefined && action === "failover") return "Failover can't be scheduled";
  if (scheduledAt !== undefined && pause) return "Can't schedule switchover in the paused state";
  if (pause && candidate === undefined) return "Switchover is possible only to a specific candidate in a paused state";
  return undefined;
}

/** Why nobody could take over, if so (Patroni 4.1.4 api.py, is_failover_possible). */
function obstacleTo(cluster: Cluster, { leader, candidate }: Asked, action: string): string | undefined {
  if (leader !== undefined && cluster.lock?.holder !== leader) return "leader name does not match";
  const members = membersOf(cluster);
  const needsSync = cluster.settings.synchronousMode === "on";
  if (candidate !== undefined) {
    if (action === "switchover" && needsSync && !cluster.sync.includes(candidate))
      return "candidate name does not match with sync_standby";
    const named = members.find((node) => node.name === candidate);
    if (named === undefined) return "candidate does not exists";
    return isEligibleToStand(named) ? undefined : `${action} is not possible: no good candidates have been found`;
  }
  const others = members.filter(
    (node) => node !== leaderOf(cluster) && (!needsSync || cluster.sync.includes(node.name)),
  );
  if (others.length === 0) {
    const lack = needsSync ? "can not find sync_standby" : "cluster does not have members except leader";
    return `${action} is not possible: ${lack}`;
  }
  return others.some(isEligibleToStand) ? undefined : `${action} is not possible: no good candidates have been found`;
}

function untilLed(cluster: Cluster, action: string, candidate: string | undefined): CallOutcome {
  const before = cluster.lock?.holder;
  const title = action === "switchover" ? "Switchover" : "Failover";
  const look = (): { status: number; text: string } | undefined => {
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
    look,
    untilMs: cluster.nowMs + waitMs,
    late: { status: 503, text: `${title} status unknown` },
  };
}

function nameIn(value: SimulatorJson | undefined): string | undefined {
  if (!isGiven(value)) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What Python takes for true: not null, false, 0, "", [] or {}. */
function isGiven(value: SimulatorJson | undefined): boolean {
  return value !== undefined && ![`null`, `false`, `0`, `""`, `[]`, `{}`].includes(JSON.stringify(value));
}
