import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { DrainExtent } from "../../../../src/core/cluster/drain.ts";
import { parse } from "yaml";
import { parseCheck, type Check } from "../../../../src/core/health/check.ts";
import { viewAt, type ClusterView } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { explain, type Explanation } from "../../../../src/core/health/rules/explain.ts";
import { explanationJson, explanationText } from "../../../../src/core/health/documents/explanation-document.ts";
import { routeOf, routePaths } from "../../../../src/core/health/route.ts";
import { played, type Scenario } from "../../../fake/scenario.ts";

interface Explained extends Scenario {
  readonly at: number;
  readonly checks?: readonly string[];
  readonly drains?: { readonly [node: string]: DrainExtent };
  readonly shows?: readonly ShownLine[];
}

/** A line that a rule shows of a node. */
interface ShownLine {
  readonly node: string;
  readonly check: string;
  readonly rule: string;
  /** The reason, of a line that refuses. */
  readonly refuses?: string;
  readonly outcome?: "pass" | "skip";
  readonly value: string;
  readonly limit?: string;
  readonly source?: string;
  readonly age_ms: number | null;
}

const scenarios: readonly Explained[] = parse(readFileSync("test/spec/explained/scenarios.yaml", "utf8"));
const plainChecks = [...new Set(routePaths().map((path) => routeOf(path.slice(1)) ?? "primary"))];

function checkOf(text: string): Check {
  const [path = "", query = ""] = text.split("?");
  const parsed = parseCheck(routeOf(path) ?? "primary", query, {
    ignoreParams: [],
    ignoresUnknown: false,
    defaults: "",
    lagTimeMsMin: 0,
  });
  assert.ok(parsed.ok, text);
  return parsed.check;
}

/** A scenario's cluster at its instant. */
function viewOf(scenario: Explained): ClusterView {
  const { at, drains = {} } = scenario;
  const { cluster, policy } = played(scenario);
  const drained = Object.entries(drains).map(([name, which]) => {
    const [since, until] = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:09Z"];
    return [
      name,
      { reason: "a test", by: which === "all" ? "ops" : null, extent: which, untilMs: 9_000, since, until },
    ] as const;
  });
  return viewAt({ ...cluster, drains: new Map(drained) }, policy, at * 1_000);
}

function linesOf({ rules }: Explanation, { node, check }: Pick<ShownLine, "node" | "check">): readonly ShownLine[] {
  return rules.map(({ rule, outcome, reason, value, limit, source, ageMs }) => ({
    node,
    check,
    rule,
    ...(outcome === "refuse" ? { refuses: reason ?? "" } : { outcome }),
    value,
    ...(limit === null ? {} : { limit }),
    ...(source === "" ? {} : { source }),
    age_ms: ageMs,
  }));
}

for (const scenario of scenarios) {
  const { title, checks = plainChecks, shows = [] } = scenario;
  describe(title, () => {
    const view = viewOf(scenario);

    for (const { node, check, rule, ...line } of shows) {
      test(`${rule} of ${node} for /${check} shows "${line.value}"`, () => {
        const observation = view.cluster.nodes.find((one) => one.node.name === node);
        assert.ok(observation);
        const lines = linesOf(explain(view, observation, checkOf(check)), { node, check });
        const wanted = { node, check, rule, ...line };
        const same = lines.find((one) => isDeepStrictEqual(one, wanted));
        assert.deepEqual(same ?? lines.find((one) => one.rule === rule), wanted);
      });
    }

    test("a refusal has a decisive rule, and both documents have every rule", () => {
      for (const observation of view.cluster.nodes) {
        for (const text of checks) {
          const explanation = explain(view, observation, checkOf(text));
          const { verdict, decisive, rules } = explanation;
          assert.equal(verdict.fit, decisive === null, `a refusal of /${text} has a decisive rule`);
          const subject = { node: observation.node.name, cluster: "demo", check: `/${text}` };
          const page = explanationText({
            ...explanation,
            ...subject,
            at: "1 s",
            snapshot: 1,
            instance: "a",
            remarks: ["a remark"],
          });
          assert.ok(page.includes("note: a remark"), page);
          for (const { rule, value } of rules) assert.ok(page.includes(rule) && page.includes(value), page);
          const document = explanationJson(explanation, checkOf(text), []) as { readonly rules: readonly unknown[] };
          assert.equal(document.rules.length, rules.length);
        }
      }
    });
  });
}
