import type { DcsState } from "../../cluster/dcs.ts";
import type { ClusterFacts } from "./cluster-facts.ts";
import { beginning, type Condition } from "./condition.ts";
import { failureText } from "./event-text.ts";

/** Returns what is wrong with the watch of a cluster's DCS. */
export function dcsConditions({ cluster, view }: ClusterFacts): readonly Condition[] {
  const { dcs } = view.cluster;
  if (dcs === null) return [];
  return [
    ...(dcs.isUp || dcs.failure === null ? [] : [lost(cluster, dcs.failure)]),
    ...(dcs.distrust === null ? [] : [distrusted(cluster, dcs.distrust)]),
  ];
}

function lost(cluster: string, failure: NonNullable<DcsState["failure"]>): Condition {
  return {
    level: "",
    begins: beginning({
      kind: "dcs_lost",
      severity: "warning",
      cluster,
      message: `the DCS of ${cluster} is not watched: rolecall goes on with its probes alone`,
      cause: failureText(failure),
    }),
  };
}

function distrusted(cluster: string, { withdrawal }: NonNullable<DcsState["distrust"]>): Condition {
  const { member, names } = withdrawal;
  return {
    level: "",
    begins: beginning({
      kind: "dcs_distrusted",
      severity: "error",
      cluster,
      message: `the DCS of ${cluster} is distrusted: ${member} leads although the DCS names ${names ?? "nobody"}`,
      cause: "its claim went on for a whole ttl; the prefix, the scope or the addresses of the DCS may be wrong",
      figures: { member, names: names ?? "nobody" },
    }),
  };
}
