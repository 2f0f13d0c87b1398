/** What the nodes of a cluster make of it. */
import { nodeNamed } from "../../cluster/lookup.ts";
import { formatByteSize } from "../../cluster/values/byte-size.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { countText, listText } from "../wording.ts";
import type { ClusterFacts } from "./cluster-facts.ts";
import { type Condition, oneCase, type Case, isOfWrites, type SituationInputs, type Told } from "./condition.ts";
import { explained, isIntended, type NodeStanding } from "./node-standing.ts";
import { conditionOfNode, type KnownNode, rankOfNode, sinceOfNode } from "./node-signs.ts";
import { foundEnds } from "./event-kinds.ts";

/**
 * Nodes are out: not fit for their role, or refused in every check with a limit for lag that balancers ask, though nobody
 * took them out. Of replicas that is an event: while there is no primary it is not decided which nodes are replicas.
 */
export const nodesOut = {
  id: "degraded",
  title: "a node is out",
  harm: "missing",
  events: {
    begins: "degraded",
    ends: foundEnds.degraded,
    severities: ["warning", "error"],
    holds: replicasOut,
    endText: (cluster: string) => `all replicas of ${cluster} are fit again`,
    // Longer than a switchover.
    holdMs: 10_000,
    restsOn: ["diverged", "detached", "stalled"],
    // Without a primary it is unknown which nodes are replicas. A replica that was not judged yet may be unfit.
    isEndKnown: ({ primary, nodes }: ClusterFacts) =>
      primary !== null && nodes.every((known) => known.node === primary.node || known.replica !== null),
  },
  status: {
    condition: "degraded",
    tell: (view, { nodes }) => tellNodes(view, nodes.filter(isOut), "out"),
  },
  rule: "RC051",
  alerts: ["RolecallNoReplica"],
} as const satisfies Condition;

function isOut({ condition, reason }: NodeStanding): boolean {
  return condition === "unfit" && !isIntended(reason);
}

function replicasOut({ cluster, nodes, primary }: ClusterFacts): readonly Case[] {
  if (primary === null) return [];
  const standbys = nodes.filter(({ node, replica }) => node !== primary.node && !isIntended(replica));
  const unfit = standbys.filter(({ replica }) => replica !== "fit" && replica !== null);
  if (unfit.length === 0) return [];
  const fit = standbys.length - unfit.length;
  const count = `${fit === 0 ? "no fit replica" : countText(fit, "fit replica")} of ${standbys.length}`;
  const cause = listText(unfit.map(({ node, replica }) => `${node} is ${replica}`));
  const downSinceMs = Math.min(
    ...unfit.map(({ isDown, observation: { sentAtMs } }) =>
      isDown && Number.isFinite(sentAtMs) ? sentAtMs : Infinity,
    ),
  );
  return [
    oneCase({
      severity: fit === 0 ? "error" : "warning",
      message: `${cluster} has ${count}: ${cause}`,
      cause,
      figures: { fit_replicas: fit, replicas: standbys.length },
      level: `${fit}/${standbys.length}`,
      ...(downSinceMs === Infinity ? {} : { sinceMs: downSinceMs }),
    }),
  ];
}

/** Something counts against nodes that are fit for their role. What it is has events of its own, or ends soon. */
export const nodeWarned = {
  id: "node_warned",
  title: "a node is fit, and something counts against it",
  harm: "doubtful",
  status: {
    condition: "warning",
    tell: (view, { nodes }) =>
      tellNodes(
        view,
        nodes.filter(({ condition }) => condition === "warning"),
        "with a warning",
      ),
  },
  rule: "RC053",
  alerts: [],
} as const satisfies Condition;

/** An operator keeps nodes out. */
export const keptOut = {
  id: "kept_out",
  title: "an operator keeps a node out",
  harm: "intended",
  status: { condition: "drained", tell: tellKeptOut },
  rule: "RC051",
  alerts: [],
} as const satisfies Condition;

function tellKeptOut(view: ClusterView, { nodes }: SituationInputs): Told | null {
  const found = nodes.filter(({ condition }) => condition === "drained");
  const distrusted = found.filter(({ drain }) => drain?.distrust === true).length;
  const words = distrusted === 0 ? "drained" : distrusted === found.length ? "distrusted" : "drained or distrusted";
  return tellNodes(view, found, words);
}

/** How many nodes are named. */
const nodesMax = 3;

/**
 * Tells what is wrong with nodes, the worst first: the advice is on that one.
 * @param words what they are; a duration follows: `1 node out for 8 s`
 */
function tellNodes(view: ClusterView, concerned: readonly NodeStanding[], words: string): Told | null {
  const known = concerned
    .flatMap((standing): readonly KnownNode[] => {
      const observation = nodeNamed(view.cluster, standing.node);
      return observation === undefined ? [] : [{ standing, observation }];
    })
    .map((node) => ({ ...node, rank: rankOfNode(view, node) }))
    .toSorted((one, other) => one.rank - other.rank);
  const [worst] = known;
  if (worst === undefined) return null;
  const { standing, observation } = worst;
  const texts = known
    .slice(0, nodesMax)
    .map((node) => `${nodeTrouble(node.standing)}${replayTrouble(view, node.standing)}`);
  const more = known.length > texts.length ? ` and ${known.length - texts.length} more` : "";
  const found = conditionOfNode(view, worst);
  const otherwise = standing.reason === null ? explained.warned : explained.out;
  return {
    wrong: `${countText(known.length, "node")} ${words}`,
    cause: `${texts.join("; ")}${more}`,
    sinceMs: sinceOfNode(view, worst),
    ...(found === null ? otherwise(standing) : found.ofNode.advice(standing, view, observation)),
    // Of the harm to writes alone: a node is out, warned or kept out before it is anything less.
    ...(found !== null && isOfWrites(found.harm) ? { harm: found.harm } : {}),
  };
}

/** Why a node is out, warned or kept out. */
function nodeTrouble({ node, condition, reason, detail, warning, refused, asked, drain }: NodeStanding): string {
  if (condition === "drained" && drain !== null) return `${node}: ${drain.reason}`;
  // The figure of a mark is how long it lasts, which the headline says; the warning says what it rests on.
  const why = reason === "detached" || reason === "stalled" ? (warning ?? detail) : detail;
  if (reason !== null) return `${node} is ${reason}${why === null ? "" : ` (${why})`}`;
  const [first] = refused;
  if (first === undefined) return `${node}: ${warning}`;
  const figure = first.detail === null ? "" : ` ${first.detail}`;
  const beside = warning === null ? "" : `; ${warning}`;
  return `${node} is refused in ${refused.length} of ${countText(asked, "check")}: ${first.reason}${figure} (${first.pool ?? first.check})${beside}`;
}

/**
 * Says that a replica lags because it does not replay what it receives, as after `pg_wal_replay_pause` or while a query
 * blocks the replay; else nothing.
 */
function replayTrouble({ cluster }: ClusterView, { node, reason, refused, lag_bytes: lag }: NodeStanding): string {
  if (reason !== "lagging" && refused.length === 0) return "";
  const { received, replayed } = nodeNamed(cluster, node)?.report ?? {};
  if (typeof received !== "number" || typeof replayed !== "number" || lag === null) return "";
  const waiting = received - replayed;
  return waiting > 0 && waiting >= lag / 2 ? `; ${formatByteSize(waiting)} of WAL is received and not replayed` : "";
}
