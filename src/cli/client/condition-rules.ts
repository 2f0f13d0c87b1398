import type { RuleId } from "../../command/result/rule-ids.ts";
import { isRuleId } from "../../command/result/rules.ts";
import { conditions } from "../../health/conditions/conditions.ts";

/** The rules of the findings on conditions, in order. */
export const rulesOfConditions: readonly RuleId[] = [
  ...new Set(conditions.flatMap(({ rule = "" }) => (isRuleId(rule) ? [rule] : []))),
].sort();
