/** The conditions of a cluster's DCS. */
import type { DcsState } from "../../cluster/dcs.ts";
import { dcsTrouble } from "../../health/documents/dcs-trouble.ts";
import { keptWithoutDcs } from "../../health/documents/dcs-reach.ts";
import { listText, spanText } from "../../health/documents/wording.ts";
import { beginning, type Condition } from "./condition.ts";
import type { ClusterFacts } from "./cluster-facts.ts";

/** Returns what is wrong with a cluster's DCS: that no node reaches it, or that rolecall's watch does not work. */
export function dcsConditions(facts: ClusterFacts): readonly Condition[] {
  return [...dcsUnreachable(facts), ...watchConditions(facts)];
}

/** No node reaches the DCS. It is trouble, unless a pause or failsafe mode keeps the primary. */
function dcsUnreachable({ cluster, view, nowMs }: ClusterFacts): readonly Condition[] {
  const trouble = dcsTrouble(view);
  if (trouble === null || trouble.silence === null) return [];
  const { silence, unread } = trouble;
  const kept = keptWithoutDcs(view);
  const silentMs = nowMs - silence.sinceMs;
  const statement = `${listText(silence.nodes)} ${silence.nodes.length === 1 ? "has" : "have"} stated no newer contact`;
  const condition: Condition = {
    level: kept ?? "",
    sinceMs: silence.sinceMs,
    begins: beginning({
      kind: "dcs_unreachable",
      severity: kept === null ? "error" : "warning",
      cluster,
      message: `no node of ${cluster} reaches the DCS: ${statement} for ${spanText(silentMs)}`,
      cause: unread === null ? null : `rolecall cannot read it either (${unread})`,
      figures: { nodes: silence.nodes.length, silent_ms: Math.round(silentMs) },
    }),
  };
  return [condition];
}

/** Returns what is wrong with the watch of a cluster's DCS. */
function watchConditions({ cluster, view }: ClusterFacts): readonly Condition[] {
  const { dcs } = view.cluster;
  if (dcs === null) return [];
  return [
    ...(dcs.isUp || dcs.failure === null ? [] : [dcsLost(cluster, dcs.failure)]),
    ...(dcs.distrust === null ? [] : [dcsDistrusted(cluster, dcs.distrust)]),
  ];
}

function dcsLost(cluster: string, failure: NonNullable<DcsState["failure"]>): Condition {
  return {
    level: "",
    begins: beginning({
      kind: "dcs_lost",
      severity: "warning",
      cluster,
      message: `the DCS of ${cluster} cannot be read (${failure.detail}): rolecall goes on with its probes alone`,
      cause: failure.detail,
    }),
  };
}

function dcsDistrusted(cluster: string, { withdrawal }: NonNullable<DcsState["distrust"]>): Condition {
  const { member, namedInstead } = withdrawal;
  const named = namedInstead ?? "nobody";
  return {
    level: "",
    begins: beginning({
      kind: "dcs_distrusted",
      severity: "error",
      cluster,
      message: `the DCS of ${cluster} is distrusted: ${member} leads although the DCS names ${named}`,
      cause: "its claim went on for a whole ttl; the prefix, the scope or the addresses of the DCS may be wrong",
      figures: { member, names: named },
    }),
  };
}
