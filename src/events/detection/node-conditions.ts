import { attachmentFigures, type AttachmentMark, type ClusterFacts, type NodeFacts } from "./cluster-facts.ts";
import { beginning, type Condition } from "./condition.ts";
import { countText, failureText } from "./event-text.ts";

/** Returns what is wrong with the nodes of a cluster: those that are down, and replicas that do not follow. */
export function nodeConditions(facts: ClusterFacts): readonly Condition[] {
  return facts.nodes.flatMap((node) => [
    ...(node.isDown ? [down(facts, node)] : []),
    ...(node.mark === null ? [] : [attachment(facts, node, node.mark)]),
  ]);
}

function down({ cluster }: ClusterFacts, { node, observation }: NodeFacts): Condition {
  const { failuresInRow, failure } = observation;
  const cause = failure === null ? null : failureText(failure);
  const failed = `${countText(failuresInRow, "probe")} in a row failed`;
  return {
    level: "",
    begins: beginning({
      kind: "node_down",
      severity: "warning",
      cluster,
      node,
      message: `${node} of ${cluster} is down: ${cause === null ? failed : `${cause} (${failed})`}`,
      cause,
      figures: { failures: failuresInRow },
    }),
  };
}

const markTexts: { readonly [mark in AttachmentMark]: string } = {
  diverged: "it has WAL that the primary does not have, and must be rewound or copied anew",
  detached: "it does not receive WAL from the primary",
  stalled: "it does not advance",
};

function attachment(facts: ClusterFacts, { node, observation }: NodeFacts, mark: AttachmentMark): Condition {
  const { cluster } = facts;
  const { warning, lagBytes } = attachmentFigures(facts, observation);
  const cause = mark === "diverged" ? null : warning;
  const timeline = observation.report?.timeline ?? null;
  return {
    level: mark,
    begins: beginning({
      kind: mark,
      severity: mark === "diverged" ? "error" : "warning",
      cluster,
      node,
      message: `${node} of ${cluster} is ${mark}: ${cause ?? markTexts[mark]}`,
      cause,
      figures: {
        ...(lagBytes === null ? {} : { lag_bytes: lagBytes }),
        ...(timeline === null ? {} : { timeline }),
      },
    }),
  };
}
