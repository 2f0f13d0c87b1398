import { parseCheck } from "../../health/check.ts";
import type { ConfiguredCheck } from "../model/config.ts";
import { type ConfigIssue, valueIssue } from "../model/issue.ts";
import { lagTimeMsMin } from "../values/check-text.ts";
import type { ValidParts } from "./valid-parts.ts";

/**
 * Checks that each `lag_time` in the check of an agent listener, or in the default parameters of a listener, can be
 * measured at the interval of the probes. Without this, every answer would be the error.
 */
export function checkLagTimes({ listen, intervalMs }: ValidParts): readonly ConfigIssue[] {
  return listen.flatMap(({ listener }, index) => {
    if (listener === null) return [];
    const { defaults, agent } = listener;
    const problem = ({ route, query }: ConfiguredCheck): { value: string; allowed: string } | null => {
      const rules = { ignoreParams: [], ignoresUnknown: true, defaults, lagTimeMsMin: lagTimeMsMin(intervalMs) };
      const parsed = parseCheck(route, query, rules);
      return parsed.ok ? null : parsed.problem;
    };
    const ofDefaults = problem({ route: "replica", query: "" });
    if (ofDefaults !== null)
      return [valueIssue(["listen", index, "defaults", "lag_time"], ofDefaults.value, ofDefaults.allowed)];
    const ofCheck = agent === null ? null : problem(agent.check);
    if (ofCheck === null) return [];
    const allowed = `a check whose lag_time is ${ofCheck.allowed}`;
    return [valueIssue(["listen", index, "check"], `lag_time=${ofCheck.value}`, allowed)];
  });
}
