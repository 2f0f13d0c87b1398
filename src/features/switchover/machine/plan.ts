/** A database of a pooler: what PAUSE and RESUME name. */
export interface PauseTarget {
  readonly pooler: string;
  readonly database: string;
}

/** The name of a target in texts, which no other one of a run has: `pgb1/orders`. A name has no slash. */
export function pauseName({ pooler, database }: PauseTarget): string {
  return `${pooler}/${database}`;
}

/** A target of a run, and the way of its clients. */
export interface PlannedTarget extends PauseTarget {
  /** Positions of routes in the plan: it is resumed as soon as all of them lead to the new primary. */
  readonly routes: readonly number[];
}

/** What is led to the new primary before clients go on there. */
export interface PlannedRoute {
  /** A pooler, a balancer, or the checks of balancers that rolecall can neither push to nor read. */
  readonly balancer: string;
  /** The database of a pooler whose file rolecall writes; `null` for any other balancer. */
  readonly database: string | null;
}

/** The route of clients whose balancer is neither pushed to nor read: its checks are waited for. */
export const checkedRouteName = "checks";

/** The name of a route in texts: `pgb1/orders`, `lb1`. */
export function routeName({ balancer, database }: PlannedRoute): string {
  return database === null ? balancer : pauseName({ pooler: balancer, database });
}

/**
 * What begins the change of the leader. `request`: rolecall asks for it, once all clients are held. `announced`: somebody
 * else has, or the leader only restarts: its database is stopped in a moment, whether clients are held or not. `loss`: the
 * leader does not serve any more, and the clients of each pooler are held that would refuse them. `restart`: no change is meant:
 * rolecall asks for a restart of the database of a node, once the clients are held that lead to it.
 */
export type SwitchoverStart = "request" | "announced" | "loss" | "restart";

/** Whether rolecall itself asks the cluster, once all clients are held: until then nothing is changed, and nothing is in a hurry. */
export function isAsked(start: SwitchoverStart): boolean {
  return start === "request" || start === "restart";
}

/** What rolecall asks the cluster for, as texts name it. */
export function actOf({ start }: Pick<SwitchoverPlan, "start">): "restart" | "switchover" {
  return start === "restart" ? "restart" : "switchover";
}

/** The database that is restarted. */
export interface RestartedNode {
  /** Whether the node leads: else it is a replica, and no other node takes over from it. */
  readonly isLeader: boolean;
  /** When its PostgreSQL had started before, as the node states it: another value shows that it has been restarted. */
  readonly startedAt: string;
}

/** The restart of the database of a node that is asked for. */
export interface RestartRequest extends RestartedNode {
  /** Whether it is restarted only if parameters wait for that. */
  readonly onlyIfPending: boolean;
  /** What is paused, as `pgb1/orders`. */
  readonly databases: ReadonlySet<string>;
}

/** What one switchover does, and by when. It stays as it is through a reload of the configuration. */
export interface SwitchoverPlan {
  /** The identifier of the run, in the intent, the events and the report. */
  readonly run: string;
  readonly cluster: string;
  /** The leader at the start; of a restart the node that is restarted. */
  readonly leader: string;
  /** The node that should lead; `null`: the cluster elects one. */
  readonly candidate: string | null;
  readonly isDryRun: boolean;
  readonly start: SwitchoverStart;
  /** What is restarted; `null`: nothing is. */
  readonly restart: RestartedNode | null;
  readonly targets: readonly PlannedTarget[];
  readonly routes: readonly PlannedRoute[];
  /** The peers that have to acknowledge the intent. */
  readonly peers: readonly string[];
  /** Whether clients that wait at the deadline, and have no primary, are cut: else they go on waiting. */
  readonly cutsAtEnd: boolean;
  readonly limits: SwitchoverLimits;
}

/** Positions of the routes of a target that are files of its own pooler: only its console can change them. */
export function fileRoutesOf({ targets, routes }: SwitchoverPlan, target: number): readonly number[] {
  return (targets[target]?.routes ?? []).filter((at) => typeof routes[at]?.database === "string");
}

/** Limits of one switchover, in ms. */
export interface SwitchoverLimits {
  /** Of the checks before it. */
  readonly checkMs: number;
  /** Until every peer has promised that no other run of the cluster goes on. */
  readonly claimMs: number;
  /** Until intent, guardian and peers are ready. */
  readonly armMs: number;
  /** Until every PAUSE is answered (`pause_limit`). */
  readonly pauseMs: number;
  /** Until all who would finish the run know that the switchover is requested next. */
  readonly tellMs: number;
  /** From the first PAUSE until every RESUME is sent (`--deadline`); 0: another process has begun the run. */
  readonly deadlineMs: number;
  /** After a loss: how long is waited for a pooler that refuses its clients, until the run ends that has paused nothing. */
  readonly lookMs: number;
  /** How long a peer may be silent, and how long this process may stand still, before the switchover is requested. */
  readonly silenceMs: number;
  /** How often an unverified RESUME is repeated. */
  readonly resumeMs: number;
  /** How long after the last target was to be resumed the run ends, whatever a pooler has answered. */
  readonly settleMs: number;
  /** How long a console that refuses connections is waited for, when nothing else is. */
  readonly refusedMs: number;
  /**
   * How long the old leader must be writable, without a key of a failover in the DCS, until nothing is pending; after an
   * announcement whatever the key is.
   */
  readonly quietMs: number;
  /** How long a primary is waited for after the deadline, to lead poolers to it. */
  readonly followMs: number;
}
