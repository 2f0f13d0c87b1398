import type { Reason } from "../reason.ts";
import type { RefusedCheck } from "../rules/asked-checks.ts";
import type { NodeCondition } from "./cluster-condition.ts";

/** How a node stands: the part of its overview that conditions depend on. */
export interface NodeStanding {
  readonly node: string;
  /** `unknown` while its last report is past: too old to count, or the node is down; then see `was`. */
  readonly role: string | null;
  /** `unknown` likewise. */
  readonly state: string | null;
  /** The role in its last report while that is past, such as `primary` for a killed primary; else `null`. */
  readonly was: string | null;
  /** 0 for the lock holder, unless it replicates from a source. */
  readonly lag_bytes: number | null;
  /** From the configuration or a tag; `null`: not known. */
  readonly zone: string | null;
  /** `fit`, or the reason, of each plain check. */
  readonly verdicts: { readonly [route: string]: "fit" | Reason };
  /** Why it is not fit for its role: the leader as a primary, others as a replica; `null` if it is. */
  readonly reason: Reason | null;
  /** The figure or detail behind the reason. */
  readonly detail: string | null;
  /**
   * What counts against the node so far, as `listed by its sender, but has not advanced for 6 s`; `null` if nothing
   * does: see {@link nodeWarning}.
   */
  readonly warning: string | null;
  readonly drain: { readonly reason: string; readonly until: string; readonly distrust: boolean } | null;
  /** How many different checks with a limit for lag balancers send, or are configured, that this node could pass. */
  readonly asked: number;
  /** Those that refuse it for its lag, though the plain check of its role does not. */
  readonly refused: readonly RefusedCheck[];
  readonly condition: NodeCondition;
}

/**
 * Reasons of a healthy node: an operator or a setting keeps it out of the pools. It is not missing: neither is its
 * cluster degraded, nor does an event say so.
 */
const intended: ReadonlySet<string> = new Set<Reason>(["drained", "distrusted", "noloadbalance", "tag", "held_back"]);

/** Whether a reason says that an operator or a setting keeps a node out. */
export function isIntended(reason: string | null): boolean {
  return reason !== null && intended.has(reason);
}

/**
 * Whether the drain of a node explains why it is not fit: it is kept out, and its PostgreSQL may be stopped meanwhile. That
 * it does not answer, or does not follow, is more.
 */
export function isExcused(reason: string | null): boolean {
  return reason === "drained" || reason === "distrusted" || reason === "not_running";
}

/** What follows for a node of which `explain` says more, and the command that runs it. */
export const explained = {
  warned: (standing: NodeStanding) => ({
    next: "it is taken out if this lasts, and the warning ends when it is over",
    action: explainCommand(standing),
  }),
  lagging: (standing: NodeStanding) => ({
    next: "it returns when its lag is within the limit",
    action:
      `Look at the replay of WAL on ${standing.node} (pg_is_wal_replay_paused, a query that conflicts with it, its disk) and at ` +
      `the network to its sender. \`${explainText(standing)}\` shows where it is behind`,
  }),
  out: (standing: NodeStanding) => ({ next: null, action: explainCommand(standing) }),
} as const;

function explainCommand(standing: NodeStanding): string {
  return `Run \`${explainText(standing)}\``;
}

function explainText({ node, verdicts, refused }: NodeStanding): string {
  const route = verdicts["primary"] === "fit" || verdicts["replica"] === "wrong_role" ? "/primary" : "/replica";
  return `rolecall explain ${quoted(refused[0]?.check ?? route)} --node ${node}`;
}

/** For a shell, which gives `&` and `?` a meaning. */
function quoted(check: string): string {
  return /[?&]/.test(check) ? `'${check}'` : check;
}
