import { isDiverged } from "../../cluster/attachment.ts";
import { lastLeaderOf } from "../../cluster/leadership.ts";
import { nodeNamed } from "../../cluster/lookup.ts";
import type { Observation } from "../../cluster/observation.ts";
import { formatByteSize } from "../../cluster/values/byte-size.ts";
import { isNoFailover } from "../../cluster/values/tags.ts";
import { plainCheck } from "../check.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { isHeard, lockTtlMs, loopWaitMs } from "../evidence/node/freshness.ts";
import { presentLag } from "../evidence/position/present-lag.ts";
import { judge } from "../rules/judge.ts";
import type { AskedCheck } from "./asked-checks.ts";
import { claimsOf } from "./claim-facts.ts";
import { lossCause } from "./loss-cause.ts";
import type { NodeCondition, NodeOverview } from "./node-overview.ts";
import { countText, failureText, listText, spanText } from "./wording.ts";

/** The conditions of a cluster, worst first. The only order: of `rolecall status`, of the page and of the metrics. */
export const clusterConditions = [
  "two primaries",
  "without a primary",
  "blind",
  "without nodes",
  "degraded",
  "warning",
  "drained",
  "ok",
] as const;

export type ClusterCondition = (typeof clusterConditions)[number];

/** What somebody on call has to know of a cluster. Texts are whole clauses without a full stop. */
export interface Situation {
  readonly condition: ClusterCondition;
  /** What is wrong: `no primary`; `null` while nothing is. */
  readonly wrong: string | null;
  /** Why, as far as rolecall knows. */
  readonly cause: string | null;
  /** Since when, as RFC 3339 in UTC, and for how many ms; `null` if that is not known. */
  readonly since: string | null;
  readonly for_ms: number | null;
  /** What balancers and their clients get. */
  readonly clients: string;
  /** What happens next without anybody's help. */
  readonly next: string | null;
  /** What to do. */
  readonly action: string | null;
}

/** What a situation depends on, besides the evidence. */
export interface SituationInputs {
  /** The nodes as the overview has them. */
  readonly nodes: readonly NodeOverview[];
  readonly asked: readonly AskedCheck[];
  /** The view's instant, in ms since the epoch. */
  readonly wallMs: number;
}

/** Whether clients of a cluster in this condition are refused, or may reach the wrong node. */
export function isSevere(condition: string): boolean {
  return severeConditions.has(condition);
}

const severeConditions: ReadonlySet<string> = new Set(["two primaries", "without a primary", "blind", "without nodes"]);

/** Describes what is wrong with a cluster, for whom, since when, what follows and what to do. */
export function situationOf(view: ClusterView, inputs: SituationInputs): Situation {
  const condition = conditionOf(view, inputs.nodes);
  const { wrong, cause, sinceMs, next, action } = details[condition](view, inputs);
  const isKnown = sinceMs !== null && Number.isFinite(sinceMs);
  const forMs = isKnown ? Math.max(0, Math.round(view.nowMs - sinceMs)) : null;
  return {
    condition,
    wrong,
    cause,
    since: forMs === null ? null : new Date(inputs.wallMs - forMs).toISOString(),
    for_ms: forMs,
    clients: clientsOf(inputs),
    next,
    action,
  };
}

/** The first line of a situation: `no primary for 8.0 s: pg2 is down (connection refused)`; `ok` if nothing is wrong. */
export function headlineOf({ wrong, cause, for_ms: forMs }: Pick<Situation, "wrong" | "cause" | "for_ms">): string {
  if (wrong === null) return "ok";
  return `${wrong}${forMs === null ? "" : ` for ${spanText(forMs)}`}${cause === null ? "" : `: ${cause}`}`;
}

/**
 * The condition of a cluster whose clients are refused, or may reach the wrong node; `null` if they are served. Cheap
 * where they are: it looks no further than the primary.
 */
export function severeConditionOf(view: ClusterView): ClusterCondition | null {
  const { nodes } = view.cluster;
  if (nodes.length === 0) return "without nodes";
  const { isConflict, nodes: claimants } = claimsOf(view);
  if (isConflict && claimants.length > 1) return "two primaries";
  if (view.isBlind) return "blind";
  const isLed = nodes.some((node) => leaderChecks.some((check) => judge(view, node, check).fit));
  return isLed ? null : "without a primary";
}

const leaderChecks = [plainCheck("primary"), plainCheck("standby-leader")];

function conditionOf(view: ClusterView, nodes: readonly NodeOverview[]): ClusterCondition {
  const severe = severeConditionOf(view);
  if (severe !== null) return severe;
  const present = new Set(nodes.map(({ condition }) => condition));
  if (present.has("unfit")) return "degraded";
  if (present.has("warning")) return "warning";
  return present.has("drained") ? "drained" : "ok";
}

/** The node that takes writes, or leads a standby cluster. */
function primaryOf(nodes: readonly NodeOverview[]): NodeOverview | undefined {
  return nodes.find(({ verdicts }) => verdicts["primary"] === "fit" || verdicts["standby-leader"] === "fit");
}

/** What depends on the condition. */
interface Details extends Pick<Situation, "wrong" | "cause" | "next" | "action"> {
  /** In ms of rolecall's clock; `null` if it is not known. */
  readonly sinceMs: number | null;
}

type Describe = (view: ClusterView, inputs: SituationInputs) => Details;

const nothing: Details = { wrong: null, cause: null, sinceMs: null, next: null, action: null };

const details: { readonly [condition in ClusterCondition]: Describe } = {
  "two primaries": twoPrimaries,
  "without a primary": noPrimary,
  blind,
  "without nodes": () => ({
    ...nothing,
    wrong: "no node is known",
    cause: "no configured address has answered with the members of the cluster",
    next: "the configured addresses are asked again at every interval",
    action: "Run `rolecall doctor`: the addresses, the scope or the network may be wrong",
  }),
  degraded: ofNodes("unfit"),
  warning: ofNodes("warning"),
  drained: ofNodes("drained"),
  ok: () => nothing,
};

function twoPrimaries(view: ClusterView): Details {
  const { nodes, holder } = claimsOf(view);
  const newestMs = Math.max(...view.lock.claims.map(({ claimedSinceMs }) => claimedSinceMs ?? -Infinity));
  return {
    wrong: nodes.length === 2 ? "two primaries" : `${nodes.length} primaries`,
    cause: `${listText(nodes)} hold the leader lock by their own word`,
    sinceMs: newestMs,
    next:
      holder === null
        ? "rolecall says yes to none of them until the cluster confirms one"
        : `rolecall says yes to ${holder} alone; it cannot fence the others`,
    action: `Find the one that holds the lock in the DCS, and stop the others: ${listText(nodes.filter((node) => node !== holder))}`,
  };
}

function noPrimary(view: ClusterView, { wallMs }: SituationInputs): Details {
  const { cluster } = view;
  const claims = claimsOf(view);
  const last = nodeNamed(cluster, claims.holder ?? lastLeaderOf(cluster.leadership));
  const lastSeenMs = cluster.lastStatement?.sentAtMs ?? cluster.leadership.lastLoss?.atMs ?? null;
  const name = last?.node.name ?? null;
  return {
    wrong: "no primary",
    cause: lossCause(view, claims, name),
    sinceMs: lastSeenMs,
    ...(claims.nodes.length === 0 ? expectation(view, last, wallMs) : waiting(claims.holder)),
  };
}

/** A node has the lock and cannot take writes, or nobody confirms the claims. */
function waiting(holder: string | null): Pick<Details, "next" | "action"> {
  return holder === null
    ? {
        next: "rolecall says yes to none of them until the cluster confirms one",
        action: "Compare `patronictl list` with the leader key in the DCS",
      }
    : {
        next: `${holder} gets a yes as soon as it is writable; its cluster manager may give the lock away before`,
        action: `Look at PostgreSQL and its log on ${holder}`,
      };
}

/** Nobody has the lock: when it expires, and who may take it. */
function expectation(
  view: ClusterView,
  last: Observation | undefined,
  wallMs: number,
): Pick<Details, "next" | "action"> {
  const { nowMs } = view;
  const candidates = candidatesOf(view);
  const named = candidates.length === 0 ? "no node may take over" : `candidates: ${candidates.join(", ")}`;
  const ttlMs = lockTtlMs(view.cluster);
  const heldMs = last?.lastHeldAtMs ?? null;
  const expiresMs = heldMs === null ? null : heldMs + ttlMs;
  const isPaused = view.cluster.nodes.some((node) => isHeard(view, node) && node.report?.isPaused === true);
  if (isPaused)
    return { next: `the cluster is paused, so nobody is promoted; ${named}`, action: "Resume it, or promote a node" };
  if (expiresMs === null || last?.failuresInRow === 0)
    return { next: `the nodes elect a leader; ${named}`, action: "Wait some seconds, then look at the log of Patroni" };
  const clock = new Date(wallMs + (expiresMs - nowMs)).toISOString().slice(11, 19);
  const ttl = `ttl ${ttlMs / 1000} s`;
  // A new leader takes the key in its next loop, and rolecall sees it with the next probe.
  return nowMs < expiresMs + loopWaitMs(view.cluster)
    ? {
        next: `the lock expires at about ${clock} UTC (${ttl}); ${named}`,
        action: candidates.length === 0 ? "Bring a node back: nobody can take over" : `Wait until ${clock} UTC`,
      }
    : {
        next: `the lock should have expired at ${clock} UTC (${ttl}); ${named}`,
        action: "Look at the DCS and at the log of Patroni on the candidates",
      };
}

/** How many candidates are named. */
const candidatesMax = 3;

/** The nodes that may be promoted, the least lagging first, with their lag. */
function candidatesOf(view: ClusterView): readonly string[] {
  return view.cluster.nodes
    .filter((node) => {
      const { report, attachment } = node;
      if (!isHeard(view, node) || report === null || report.role !== "replica" || isNoFailover(report.tags))
        return false;
      return !attachment.isDetached && !isDiverged(attachment);
    })
    .map((observation) => ({ name: observation.node.name, bytes: presentLag(view, observation).bytes }))
    .toSorted((one, other) => (one.bytes ?? Infinity) - (other.bytes ?? Infinity))
    .slice(0, candidatesMax)
    .map(({ name, bytes }) => `${name} (${bytes === null ? "lag unknown" : formatByteSize(bytes)})`);
}

function blind({ cluster }: ClusterView): Details {
  const failed = cluster.nodes.find(({ failure }) => failure !== null);
  return {
    wrong: "blind",
    cause: `none of ${countText(cluster.nodes.length, "node")} answers rolecall${failed?.failure ? `; ${failed.node.name}: ${failureText(failed.failure)}` : ""}`,
    sinceMs: cluster.newestReportAtMs,
    next: "checks are answered 500 until a node answers: balancers can tell that from a no",
    action: "Look at the network between rolecall and the nodes first: all nodes at once is rarely the nodes",
  };
}

/** A condition that nodes have: the worst of them, by name. */
function ofNodes(condition: NodeCondition): Describe {
  return (view, { nodes }) => {
    const concerned = nodes.filter((node) => node.condition === condition);
    const [first] = concerned;
    const observation = nodeNamed(view.cluster, first?.node ?? null);
    if (first === undefined || observation === undefined) return nothing;
    const words = concerned.slice(0, 3).map(nodeTrouble);
    const more = concerned.length > words.length ? ` and ${concerned.length - words.length} more` : "";
    return {
      wrong: `${countText(concerned.length, "node")} ${wrongOfNodes[condition]}`,
      cause: `${words.join("; ")}${more}`,
      sinceMs: sinceOfNode(view, observation, first),
      ...prospectOf(first),
    };
  };
}

/** A duration follows: `1 node out for 8 s`. */
const wrongOfNodes: { readonly [condition in NodeCondition]: string } = {
  unfit: "out",
  warning: "with a warning",
  drained: "drained",
  ok: "",
};

function nodeTrouble({ node, reason, detail, warning, refused, asked, drain }: NodeOverview): string {
  if (reason === "drained" && drain !== null) return `${node}: ${drain.reason}`;
  if (reason !== null) return `${node} is ${reason}${detail === null ? "" : ` (${detail})`}`;
  const [first] = refused;
  if (first === undefined) return `${node}: ${warning}`;
  const figure = first.detail === null ? "" : ` ${first.detail}`;
  return `${node} is refused in ${refused.length} of ${asked} checks: ${first.reason}${figure} (${first.check})`;
}

/** Since when a node has its trouble, in ms of rolecall's clock; `null` if that is not known. */
function sinceOfNode(view: ClusterView, observation: Observation, { reason }: NodeOverview): number | null {
  const { sentAtMs, attachment } = observation;
  if (reason === "down" || reason === "stale") return sentAtMs;
  if (reason === "detached" || reason === "stalled") {
    const heldMs = attachment.silentMs + attachment.listedMs;
    return heldMs > 0 ? sentAtMs - heldMs : null;
  }
  return reason === "lagging" ? presentLag(view, observation).growsSinceMs : null;
}

function prospectOf({ node, reason, drain, verdicts }: NodeOverview): Pick<Details, "next" | "action"> {
  const explain = `Run \`rolecall explain /${verdicts["primary"] === "wrong_role" ? "replica" : "primary"} --node ${node}\``;
  if (reason === "drained" && drain !== null)
    return {
      next: `the drain ends at ${drain.until}`,
      action: `Undrain it when it is done: \`rolecall undrain ${node}\``,
    };
  if (reason === "down" || reason === "stale")
    return {
      next: "it is asked again at every interval, and returns when it answers",
      action: `Look at ${node} and its Patroni`,
    };
  if (reason === "detached" || reason === "stalled")
    return {
      next: "it returns when it receives WAL from the primary again",
      action: `Look at the WAL receiver of ${node}`,
    };
  if (reason === "diverged")
    return { next: "it stays out until it is rewound or copied anew", action: `Reinitialize ${node}` };
  if (reason === "lagging" || reason === "lag_unknown" || reason === null)
    return { next: "it returns when its lag is within the limit", action: explain };
  return { next: null, action: explain };
}

/** Who gets writes and reads. */
function clientsOf({ nodes, asked }: SituationInputs): string {
  const primary = primaryOf(nodes);
  const writes = primary === undefined ? "writes are refused" : `writes go to ${primary.node}`;
  const readers = nodes.filter(({ verdicts }) => verdicts["replica"] === "fit");
  const others = nodes.filter(({ node }) => node !== primary?.node).length;
  const plain = others === 0 ? [] : [`/replica: ${readers.length} of ${countText(others, "node")}`];
  const limited = asked.map(({ text }) => {
    const fit = readers.filter(({ refused }) => refused.every(({ check }) => check !== text));
    return `${text}: ${fit.length} of ${others}`;
  });
  return [writes, ...plain, ...limited].join("; ");
}

/** A situation in five lines, for somebody on call: what is wrong, since when, what clients get, what follows, what to do. */
export function situationLines({
  wrong,
  cause,
  since,
  for_ms: forMs,
  clients,
  next,
  action,
}: Omit<Situation, "condition">): readonly string[] {
  const rows: readonly (readonly [string, string | null])[] = [
    ["wrong", wrong === null ? "nothing" : `${wrong}${cause === null ? "" : `: ${cause}`}`],
    ["since", forMs === null ? (wrong === null ? "-" : "not known") : `${since} (${spanText(forMs)})`],
    ["clients", clients],
    ["next", next ?? "-"],
    ["do", action ?? "-"],
  ];
  return rows.map(([label, text]) => `${`${label}:`.padEnd(9)}${text}`);
}
