import { plainCheck } from "../check.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { unansweredText } from "../evidence/node/unanswered-addresses.ts";
import { foreignScopeText } from "../evidence/node/foreign-scope.ts";
import { strayOf } from "../evidence/leadership/stray-primary.ts";
import { judge } from "../rules/judge.ts";
import { claimsOf } from "./claim-facts.ts";
import { afterDcs, dcsTrouble, dcsWarning } from "./dcs-trouble.ts";
import type { NodeOverview } from "./node-overview.ts";
import { ofNodes } from "./node-trouble.ts";
import { noPrimary } from "./primary-loss.ts";
import { type Describe, type Details, nothing, type SituationInputs } from "./situation-details.ts";
import { countText, listText, spanText } from "./wording.ts";

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
  if (nodes.some((node) => strayOf(view, node)?.isConfirmed === true)) return "two primaries";
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
  if (present.has("warning") || dcsTrouble(view) !== null) return "warning";
  return present.has("drained") ? "drained" : "ok";
}

/** The node that takes writes, or leads a standby cluster. */
function primaryOf(nodes: readonly NodeOverview[]): NodeOverview | undefined {
  return nodes.find(({ verdicts }) => verdicts["primary"] === "fit" || verdicts["standby-leader"] === "fit");
}

const details: { readonly [condition in ClusterCondition]: Describe } = {
  "two primaries": twoPrimaries,
  "without a primary": noPrimary,
  blind,
  "without nodes": withoutNodes,
  degraded: afterDcs(ofNodes("unfit")),
  warning: (view, inputs) =>
    inputs.nodes.some(({ condition }) => condition === "warning")
      ? afterDcs(ofNodes("warning"))(view, inputs)
      : dcsWarning(view),
  drained: ofNodes("drained"),
  ok: () => nothing,
};

function withoutNodes({ cluster }: ClusterView): Details {
  const scope = foreignScopeText(cluster);
  return {
    ...nothing,
    wrong: "no node is known",
    cause: scope ?? unansweredText(cluster) ?? "no configured address has answered with the members of the cluster",
    next: "the configured addresses are asked again at every interval",
    action:
      scope === null
        ? "Run `rolecall doctor`: the addresses, the scope or the network may be wrong"
        : "Correct the scope of the cluster in the configuration, or its addresses",
  };
}

function twoPrimaries(view: ClusterView): Details {
  const { nodes, holder, isConflict } = claimsOf(view);
  // A sole claim in conflict is lost: its node leads nobody, so none is a primary beside it.
  if (!isConflict) return strayPrimaries(view);
  const newestMs = Math.max(...view.lock.claims.map(({ claimedSinceMs }) => claimedSinceMs ?? -Infinity));
  return {
    wrong: nodes.length === 2 ? "two primaries" : `${nodes.length} primaries`,
    cause: `${listText(nodes)} hold the leader lock by their own word`,
    sinceMs: newestMs,
    ...(holder === null
      ? {
          next: "rolecall says yes to none of them until the cluster confirms one",
          action: `Find out which of ${listText(nodes)} holds the lock in the DCS, and stop the others`,
        }
      : {
          next: `rolecall says yes to ${holder} alone; it cannot fence the others`,
          action: `Find the one that holds the lock in the DCS, and stop the others: ${listText(nodes.filter((node) => node !== holder))}`,
        }),
  };
}

/** Primaries without the lock beside the one that leads. */
function strayPrimaries(view: ClusterView): Details {
  const { holder } = view.lock;
  const found = view.cluster.nodes.flatMap((observation) => {
    const stray = strayOf(view, observation);
    return stray?.isConfirmed === true ? [{ name: observation.node.name, sinceMs: stray.sinceMs }] : [];
  });
  const names = found.map(({ name }) => name);
  const [is, their] = names.length === 1 ? ["is a running primary", "its"] : ["are running primaries", "their"];
  return {
    wrong: names.length === 1 ? "two primaries" : `${names.length + 1} primaries`,
    cause: `${holder} holds the leader lock, and ${listText(names)} ${is} without it: writes there will be lost`,
    sinceMs: Math.min(...found.map(({ sinceMs }) => sinceMs)),
    next: `rolecall says yes to ${holder} alone; it cannot fence the others`,
    action: `Stop PostgreSQL on ${listText(names)}, save what clients wrote there, and let ${their} cluster manager rewind or copy it anew`,
  };
}

function blind({ cluster }: ClusterView): Details {
  const failed = cluster.nodes.find(({ failure }) => failure !== null);
  return {
    wrong: "blind",
    cause: `none of ${countText(cluster.nodes.length, "node")} answers rolecall${failed?.failure ? `; ${failed.node.name}: ${failed.failure.detail}` : ""}`,
    sinceMs: cluster.newestReportAtMs,
    next: "checks are answered 500 until a node answers: balancers can tell that from a no",
    action: "Look at the network between rolecall and the nodes first: all nodes at once is rarely the nodes",
  };
}

/** Who gets writes and reads. */
function clientsOf({ nodes, asked }: SituationInputs): string {
  const primary = primaryOf(nodes);
  const writes = primary === undefined ? "writes are refused" : `writes go to ${primary.node}`;
  const readers = nodes.filter(({ verdicts }) => verdicts["replica"] === "fit");
  const others = nodes.filter(({ node }) => node !== primary?.node).length;
  const plain = others === 0 ? [] : [`/replica: ${readers.length} of ${countText(others, "node")}`];
  const limited = asked.map(({ text, check: { zones }, pool }) => {
    const fit = readers.filter(({ refused }) => refused.every(({ check }) => check !== text));
    const local = fit.filter(({ zone }) => zone !== null && zones.includes(zone));
    return `${pool ?? text}: ${local.length === 0 ? fit.length : local.length} of ${others}`;
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
