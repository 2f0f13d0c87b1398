import { parseCheck, type CheckRules } from "../../health/check.ts";
import type { Route } from "../../health/route.ts";
import { type ConfigIssue, type ConfigPath, valueIssue } from "../model/issue.ts";
import { configuredCheck } from "../schema/agent-schema.ts";
import type { PartialConfig, PartialListener } from "../sources/partial-config.ts";
import { readValue } from "../sources/written-values.ts";
import { lagTimeMsMin } from "../values/check-text.ts";

const checkSchema = configuredCheck();

/**
 * Checks that each `lag_time` in the check of an agent listener, or in the default parameters of a listener, can be
 * measured at the interval of the probes. Without this, every answer would be the error.
 */
export function checkLagTimes({ listen, probe }: PartialConfig): readonly ConfigIssue[] {
  const least = lagTimeMsMin(probe.values.intervalMs);
  return listen.flatMap((listener, index) => [
    ...defaultsIssues(listener, ["listen", index, "defaults"], least),
    ...checkIssues(listener, ["listen", index, "check"], least),
  ]);
}

function defaultsIssues({ defaults }: PartialListener, path: ConfigPath, least: number): readonly ConfigIssue[] {
  const issue = lagTimeIssue({ route: "replica", query: "" }, { defaults, least });
  return issue === null ? [] : [valueIssue([...path, "lag_time"], issue.value, issue.allowed)];
}

function checkIssues(
  { dialect, dialectKeys, defaults }: PartialListener,
  path: ConfigPath,
  least: number,
): readonly ConfigIssue[] {
  const check = dialect === "agent" ? readValue(checkSchema, dialectKeys.get("check") ?? "/replica") : undefined;
  if (check === undefined) return [];
  const ofDefaults = lagTimeIssue({ route: "replica", query: "" }, { defaults, least });
  const issue = ofDefaults === null ? lagTimeIssue(check, { defaults, least }) : null;
  return issue === null
    ? []
    : [valueIssue(path, `lag_time=${issue.value}`, `a check whose lag_time is ${issue.allowed}`)];
}

/** A `lag_time` that is too short; `null` also for a check that is not valid, which its schema reports. */
function lagTimeIssue(
  { route, query }: { readonly route: Route; readonly query: string },
  { defaults, least }: { readonly defaults: string; readonly least: number },
): { readonly value: string; readonly allowed: string } | null {
  const rules: CheckRules = { ignoreParams: [], ignoresUnknown: true, defaults, lagTimeMsMin: 0 };
  if (!parseCheck(route, query, rules).ok) return null;
  const parsed = parseCheck(route, query, { ...rules, lagTimeMsMin: least });
  return parsed.ok ? null : parsed.problem;
}
