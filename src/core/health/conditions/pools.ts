/** Who gets the reads of clients. */
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { presentLag } from "../evidence/position/present-lag.ts";
import { type AskedCheck } from "../rules/asked-checks.ts";
import { judgeMember } from "../rules/pool.ts";
import { listText } from "../wording.ts";
import type { ClusterFacts } from "./cluster-facts.ts";
import { type Condition, oneCase, type Case, type SituationInputs, type Told } from "./condition.ts";
import { explained, isIntended } from "./node-standing.ts";
import { foundEnds } from "./event-kinds.ts";

/**
 * A check that balancers ask refuses every node that it could pass. The nodes are judged as balancers ask: a lag limit
 * may leave a pool empty while every replica is fit for a plain `/replica`.
 */
export const poolEmpty = {
  id: "pool_empty",
  title: "a pool has no member",
  harm: "missing",
  events: {
    begins: "pool_empty",
    ends: foundEnds.pool_empty,
    severities: ["error"],
    holds: emptyFound,
    endText: (cluster: string) => `every check of balancers has a member in ${cluster} again`,
    // Longer than a probe interval.
    holdMs: 2_000,
  },
  status: { condition: "degraded", tell: tellEmpty },
  alerts: ["RolecallPoolEmpty"],
} as const satisfies Condition;

interface EmptyPools {
  readonly texts: readonly string[];
  readonly first: AskedCheck;
  /** Why the first of them refuses each node that is no wrong one for it. */
  readonly cause: string | null;
}

function emptyPools(view: ClusterView, asked: readonly AskedCheck[]): EmptyPools | null {
  const { nodes } = view.cluster;
  const empty = asked.filter(({ check }) => !nodes.some((observation) => judgeMember(view, observation, check).fit));
  const [first] = empty;
  if (first === undefined || nodes.length < 2) return null;
  const why = nodes.flatMap((observation) => {
    const verdict = judgeMember(view, observation, first.check);
    if (verdict.fit || verdict.reason === "wrong_role") return [];
    return [`${observation.node.name} is ${verdict.reason}${verdict.figure === null ? "" : ` (${verdict.figure})`}`];
  });
  const texts = empty.map(({ text, pool }) => pool ?? text);
  return { texts, first, cause: why.length === 0 ? null : listText(why) };
}

function emptyFound({ cluster, view, asked }: ClusterFacts): readonly Case[] {
  const found = emptyPools(view, asked);
  if (found === null) return [];
  const { texts, cause } = found;
  return [
    oneCase({
      severity: "error",
      message: `no node of ${cluster} passes ${listText(texts)}, which balancers ask${cause === null ? "" : `: ${cause}`}`,
      cause,
      figures: { checks: texts.length },
      level: texts.join(" "),
    }),
  ];
}

/** Nodes that are out, or refused in checks, say more of why a pool is empty. */
function tellEmpty(view: ClusterView, { nodes, asked }: SituationInputs): Told | null {
  const isTold = nodes.some(
    ({ condition, reason, refused }) => (condition === "unfit" && !isIntended(reason)) || refused.length > 0,
  );
  if (isTold) return null;
  const found = emptyPools(view, asked);
  if (found === null) return null;
  const { texts, first, cause } = found;
  return {
    wrong: `no node passes ${listText(texts)}`,
    cause,
    sinceMs: null,
    next: `it has a member again as soon as a node passes it`,
    action: `Run \`rolecall explain '${first.text}'\``,
  };
}

/** A replica lags too much for its role, or for checks of balancers. */
export const lagging = {
  id: "lagging",
  title: "a replica lags",
  harm: "missing",
  status: { within: "degraded" },
  ofNode: {
    isOf: ({ reason, refused }) => reason === "lagging" || reason === "lag_unknown" || refused.length > 0,
    sinceMs: (view, observation, { reason, refused }) =>
      reason === "lagging" || refused.length > 0 ? presentLag(view, observation).growsSinceMs : null,
    advice: explained.lagging,
  },
  remedies: {
    lagging: "its lag must fall below the limit, or the check must allow more",
    lag_unknown: "it and the leader must report their positions",
  },
  alerts: ["RolecallReplicaLags"],
} as const satisfies Condition;
