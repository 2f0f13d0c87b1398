/** Whether rolecall reaches the nodes of a cluster. */
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { foreignScopeText } from "../evidence/node/foreign-scope.ts";
import { isHeard } from "../evidence/node/freshness.ts";
import { unansweredText } from "../evidence/node/unanswered-addresses.ts";
import { isUnlisted } from "../evidence/node/unlisted.ts";
import { tlsAction } from "../../cluster/values/tls-trouble.ts";
import { countText, spanText } from "../wording.ts";
import type { ClusterFacts } from "./cluster-facts.ts";
import type { NodeStanding } from "./node-standing.ts";
import { type Condition, type Harm, oneCase, type Case, type Told } from "./condition.ts";
import { explained } from "./node-standing.ts";
import { foundEnds } from "./event-kinds.ts";

/** No node of a cluster of two or more answers, or no node is known: the fault is likely rolecall's (rule 9). */
export const blind = {
  id: "blind",
  title: "no node answers rolecall",
  harm: "unseen",
  events: {
    begins: "blind",
    ends: foundEnds.blind,
    severities: ["error"],
    reason: "blind",
    holds: blindFound,
    endText: (cluster: string) => `rolecall gets answers from ${cluster} again`,
    mayBeHidden: true,
  },
  status: { condition: "blind", tell: (view) => (view.isBlind ? tellBlind(view) : null) },
  rule: "RC052",
  remedies: { blind: "some node of the cluster must answer: check the network between rolecall and the nodes" },
  alerts: ["RolecallBlind"],
} as const satisfies Condition;

function blindFound({ cluster, isBlind, nodes, view }: ClusterFacts): readonly Case[] {
  if (!isBlind) return [];
  const [failed] = nodes.flatMap(({ node, observation: { failure } }) =>
    failure === null ? [] : [`${node}: ${failure.detail}`],
  );
  return [
    oneCase({
      severity: "error",
      message:
        nodes.length === 0
          ? `rolecall knows no node of ${cluster}: no address in discover has answered with its members`
          : `rolecall gets no answer from any of the ${countText(nodes.length, "node")} of ${cluster}`,
      cause: failed ?? foreignScopeText(view.cluster),
      figures: { nodes: nodes.length },
    }),
  ];
}

function tellBlind({ cluster }: ClusterView): Told {
  const failed = cluster.nodes.find(({ failure }) => failure !== null);
  const tls = tlsAction(failed?.failure ?? null, cluster.nodes.length === 1 ? (failed?.node.name ?? "") : "the nodes");
  return {
    wrong: "blind",
    cause: `none of ${countText(cluster.nodes.length, "node")} answers rolecall${failed?.failure ? `; ${failed.node.name}: ${failed.failure.detail}` : ""}`,
    sinceMs: cluster.newestReportAtMs,
    next: "checks are answered 500 until a node answers: balancers can tell that from a no",
    action: tls ?? "Look at the network between rolecall and the nodes first: all nodes at once is rarely the nodes",
  };
}

/** No node of a cluster is known. Its event is that of a blind cluster. */
export const withoutNodes = {
  id: "without_nodes",
  title: "no node is known",
  harm: "unseen",
  status: { condition: "without nodes", tell: (view) => (view.cluster.nodes.length === 0 ? tellNoNodes(view) : null) },
  rule: "RC112",
  alerts: ["RolecallBlind"],
} as const satisfies Condition;

function tellNoNodes({ cluster }: ClusterView): Told {
  const scope = foreignScopeText(cluster);
  const [failed = null] = [...cluster.contacts.values()].flatMap(({ failure }) => failure ?? []);
  return {
    wrong: "no node is known",
    cause: scope ?? unansweredText(cluster) ?? "no configured address has answered with the members of the cluster",
    sinceMs: null,
    next: "the configured addresses are asked again at every interval",
    action:
      scope === null
        ? (tlsAction(failed, "the nodes") ??
          "Run `rolecall doctor`: the addresses, the scope or the network may be wrong")
        : "Correct the scope of the cluster in the configuration, or its addresses",
  };
}

/** A node does not answer. */
export const nodeDown = {
  id: "node_down",
  title: "a node does not answer",
  harm: "missing",
  events: {
    begins: "node_down",
    ends: foundEnds.node_down,
    severities: ["warning"],
    reason: "down",
    holds: nodesDown,
    endText: (cluster: string, node: string | null) => `${node} of ${cluster} answers again`,
  },
  status: { within: "degraded" },
  ofNode: {
    isOf: ({ reason }) => reason === "down" || reason === "stale",
    harm: harmOfSilence,
    sinceMs: (_view, { sentAtMs }) => sentAtMs,
    advice: (standing, _view, observation) => ({
      next: "it is asked again at every interval, and returns when it answers",
      action: lookAtSilent(standing, observation),
    }),
  },
  remedies: {
    down: "its API must answer: check that the node runs and that rolecall can reach its address",
    stale: "it must answer again: its last answer is older than max_age",
    unknown: "it must answer once: rolecall has had no answer from it yet",
  },
  alerts: ["RolecallNodeDown"],
} as const satisfies Condition;

function nodesDown({ cluster, nodes }: ClusterFacts): readonly Case[] {
  return nodes.flatMap(({ node, isDown, observation }) => {
    if (!isDown) return [];
    const { failuresInRow, failure, sentAtMs } = observation;
    const cause = failure?.detail ?? null;
    const failed = `${countText(failuresInRow, "probe")} in a row failed`;
    const message = `${node} of ${cluster} is down: ${cause === null ? failed : `${cause} (${failed})`}`;
    return [
      oneCase({
        severity: "warning",
        node,
        message,
        cause,
        figures: { failures: failuresInRow },
        // It has been so since its last answer, as in the situation.
        ...(Number.isFinite(sentAtMs) ? { sinceMs: sentAtMs } : {}),
      }),
    ];
  });
}

/** Only its Patroni was asked: that it is silent says nothing of its PostgreSQL, which may take writes. */
function lookAtSilent({ node, was }: NodeStanding, { failure, report }: Observation): string {
  const action = tlsAction(failure, node, report !== null);
  if (was !== "primary") return action ?? `Look at ${node} and its Patroni`;
  return `Make sure that its PostgreSQL has stopped: only its Patroni is asked. ${action ?? `Then look at ${node}`}`;
}

/** Its PostgreSQL may still take writes. */
function harmOfSilence({ was }: NodeStanding): Harm | null {
  return was === "primary" ? "split" : null;
}

/**
 * A node that is down is in no member list any more: Patroni's key of it has expired, or somebody has removed it. Its
 * PostgreSQL may run in both cases, so nothing is advised that would hide it.
 */
export const unlistedNode = {
  id: "node_unlisted",
  title: "no member list names a node that is down",
  harm: "missing",
  status: { within: "degraded" },
  ofNode: {
    isOf: (_standing, view, observation) => isUnlisted(view, observation),
    harm: harmOfSilence,
    sinceMs: (_view, { sentAtMs }, { reason }) => (reason === "down" || reason === "stale" ? sentAtMs : null),
    advice: (standing, _view, observation) => ({
      next: "Patroni no longer lists it; rolecall goes on asking it for a day",
      action: lookAtSilent(standing, observation),
    }),
  },
  alerts: [],
} as const satisfies Condition;

/** The shortest silence that counts, in ms: very short probe intervals are a matter of the machine, not of the node. */
const leastMs = 2_000;

/** A node has missed an answer, and its last report still counts: its clients may notice before it is down. */
export const silentNode = {
  id: "node_silent",
  title: "a node has missed an answer",
  harm: "doubtful",
  status: { within: "node_warned" },
  ofNode: {
    warning: silenceText,
    isOf: ({ reason, warning }, view, observation) =>
      reason === null && warning !== null && warning === silenceText(view, observation),
    sinceMs: (_view, { sentAtMs }) => sentAtMs,
    advice: explained.warned,
  },
  alerts: [],
} as const satisfies Condition;

/** What is known of the silence of a node; `null` if it answers. */
function silenceText(view: ClusterView, observation: Observation): string | null {
  const { node, sentAtMs, failure, failuresInRow } = observation;
  if (node.api === null || !isHeard(view, observation)) return null;
  const silentMs = view.nowMs - sentAtMs;
  if (silentMs < Math.max(leastMs, 2 * view.policy.intervalMs)) return null;
  const failed = failure === null ? "" : ` (${countText(failuresInRow, "failed probe")}: ${failure.detail})`;
  return `has not answered for ${spanText(silentMs)}${failed}`;
}
