import { isPast } from "../evidence/node/freshness.ts";
import { fit, unfit } from "../verdict.ts";
import type { NodeCheck, Rule } from "./rule.ts";

/** The node is a replica. */
export const replicaRole: Rule = {
  judge: ({ report }) => (report.role === "replica" ? fit : unfit("wrong_role", report.role)),
  show: (context) => [{ rule: "role", value: `${tenseOf(context)}${context.report.role}`, limit: "replica" }],
};

/** The database runs. */
export const running: Rule = {
  judge: ({ report }) => (report.state === "running" ? fit : unfit("not_running", report.state)),
  show: (context) => [{ rule: "state", value: `${tenseOf(context)}${context.report.state}`, limit: "running" }],
};

/** Balancers may use the node. */
export const balanced: Rule = {
  judge: ({ report }) => (report.isNoLoadBalance ? unfit("noloadbalance") : fit),
  show: ({ report }) => [{ rule: "noloadbalance", value: report.isNoLoadBalance ? "tag is set" : "not set" }],
};

/** What precedes a role or a state: `was ` if the node's last report no longer describes the present. */
function tenseOf({ view, observation }: NodeCheck): string {
  return isPast(view, observation) ? "was " : "";
}
