/** Which routes replicas serve, and which rules of a route apply to a node (rule 11). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { routes } from "../../../../src/core/health/route.ts";
import {
  appliedRules,
  isForReplicas,
  isReplicaRoute,
  type RouteRules,
} from "../../../../src/core/health/rules/route-rules.ts";
import type { Rule, RuleContext } from "../../../../src/core/health/rules/rule.ts";
import { fit, unfit } from "../../../../src/core/health/verdict.ts";
import { reportOf } from "../../../fake/node-documents.ts";

test("replicas alone pass the routes of replicas, and leaders too those that serve reads of any node", () => {
  const ofReplicas = ["replica", "sync", "quorum", "async"];
  assert.deepEqual(routes.filter(isReplicaRoute).toSorted(), ofReplicas.toSorted());
  assert.deepEqual(
    routes.filter(isForReplicas).toSorted(),
    [...ofReplicas, "read-only", "read-only-sync", "read-only-quorum", "readiness"].toSorted(),
  );
});

/** A rule that shows its name. */
function ruleOf(name: string, accepts = true): Rule {
  return { judge: () => (accepts ? fit : unfit("wrong_role")), show: () => [{ rule: name, value: name }] };
}

const [passes, refuses, alsoPasses] = [ruleOf("leads"), ruleOf("leads not", false), ruleOf("leads in another way")];
const [ofLeader, ofOther, ofAll] = [[ruleOf("of the leader")], [ruleOf("of others")], [ruleOf("of all")]];

interface Row {
  readonly given: string;
  readonly leader: readonly (readonly Rule[])[];
  readonly other?: readonly Rule[];
  readonly isOtherReplica?: boolean;
  readonly role?: string;
  /** The rules that refuse by themselves, and those in brackets that do not. */
  readonly applied: readonly string[];
}

const asLeader = "it passes as the leader";
const noReplica = "it is no replica, so it must be the leader";
const rows: readonly Row[] = [
  { given: "of the leader alone, which it is", leader: [[passes]], applied: ["leads", "of the leader", "of all"] },
  {
    given: "of the leader alone, which it is not",
    leader: [[refuses]],
    applied: ["leads not", "of the leader", "of all"],
  },
  { given: "of any node", leader: [], applied: ["of all"] },
  { given: "of replicas alone", leader: [], other: ofOther, applied: ["of others", "of all"] },
  {
    given: "of replicas alone, and is none",
    leader: [],
    other: ofOther,
    role: "primary",
    applied: ["of others", "of all"],
  },
  {
    given: "of both, and passes as the leader",
    leader: [[passes], [alsoPasses]],
    other: ofOther,
    applied: ["leads", asLeader, "of the leader", "of all"],
  },
  {
    given: "of both, and passes as the leader in the second way",
    leader: [[refuses], [alsoPasses]],
    other: ofOther,
    applied: ["leads in another way", asLeader, "of the leader", "of all"],
  },
  {
    given: "of both, and passes as the leader although it is a replica",
    leader: [[passes]],
    other: ofOther,
    isOtherReplica: true,
    applied: ["leads", asLeader, "of the leader", "of all"],
  },
  {
    given: "of both, and is a replica",
    leader: [[refuses], [refuses]],
    other: ofOther,
    isOtherReplica: true,
    applied: ["(leads not)", "of others", "of all"],
  },
  {
    given: "of the leader and replicas, and is neither",
    leader: [[refuses]],
    other: ofOther,
    isOtherReplica: true,
    role: "primary",
    applied: ["leads not", noReplica, "of the leader", "of all"],
  },
  {
    given: "of the leader and any other node, and is no replica",
    leader: [[refuses]],
    other: ofOther,
    role: "primary",
    applied: ["(leads not)", "of others", "of all"],
  },
];

suite("a node is explained for a route", () => {
  for (const { given, leader, other = null, isOtherReplica = false, role = "replica", applied } of rows)
    test(given, () => {
      const rules: RouteRules = { leader, ofLeader, other, isOtherReplica, everyNode: ofAll };
      const context = { report: reportOf("pg1", { role }) } as RuleContext;
      const shown = appliedRules(rules, context).map(({ rule, isRequired }) => {
        const value = rule.show(context, null)[0]?.value ?? "";
        return isRequired ? value : `(${value})`;
      });
      assert.deepEqual(shown, applied);
    });
});
