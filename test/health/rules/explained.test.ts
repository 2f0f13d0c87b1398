import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { DrainExtent } from "../../../src/cluster/drain.ts";
import { parse } from "yaml";
import { parseCheck, type Check } from "../../../src/health/check.ts";
import { viewAt, type ClusterView } from "../../../src/health/evidence/leadership/cluster-view.ts";
import { acceptedPrimary } from "../../../src/health/documents/accepted-primary.ts";
import { attachmentKnowledge } from "../../../src/health/documents/attachment-knowledge.ts";
import { explain } from "../../../src/health/rules/explain.ts";
import { explanationJson, explanationText } from "../../../src/health/documents/explanation-document.ts";
import { clusterExporterRole, exporterRoleOf } from "../../../src/health/documents/exporter-role.ts";
import { fleetRow, liveCluster, oldestReportMs } from "../../../src/health/documents/live-cluster.ts";
import { summarize } from "../../../src/health/documents/summary.ts";
import { routeOf, routePaths } from "../../../src/health/route.ts";
import { played, type Scenario } from "../../fake/scenario.ts";

interface Explained extends Scenario {
  readonly at: number;
  readonly checks?: readonly string[];
  readonly drains?: { readonly [node: string]: DrainExtent };
}

const room = join("test", "spec", "explained");
const golden = join(room, "explained.txt");
const scenarios: readonly Explained[] = parse(readFileSync(join(room, "scenarios.yaml"), "utf8"));
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

/** A cluster as the pages and metrics show it. */
function shown(view: ClusterView): string {
  const { cluster } = view;
  const live = liveCluster(view);
  const nodes = cluster.nodes.map((observation) => ({
    node: observation.node.name,
    summary: summarize(view, observation),
    exporter: exporterRoleOf(view, observation),
    attachment: [null, 900, 999, 1_000].map((first) =>
      attachmentKnowledge(view, { observation, check: checkOf("replica") }, first),
    ),
  }));
  const primary = acceptedPrimary(view)?.node.name ?? null;
  const whole = { primary, exporter: clusterExporterRole(view), oldestReportMs: oldestReportMs(live) };
  return [...live.nodes, { ...live, nodes: live.nodes.length }, fleetRow(live), ...nodes, whole]
    .map((part) => `${JSON.stringify(part)}\n`)
    .join("");
}

function explained({ title, at, checks = plainChecks, drains = {}, ...scenario }: Explained): string {
  const { cluster, policy } = played(scenario);
  const drained = Object.entries(drains).map(([name, which]) => {
    const [since, until] = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:09Z"];
    return [
      name,
      { reason: "a test", by: which === "all" ? "ops" : null, extent: which, untilMs: 9_000, since, until },
    ] as const;
  });
  const view = viewAt({ ...cluster, drains: new Map(drained) }, policy, at * 1_000);
  const texts = view.cluster.nodes.flatMap((observation) => {
    const lines = checks.flatMap((text) => {
      const explanation = explain(view, observation, checkOf(text));
      const { verdict, decisive } = explanation;
      assert.equal(verdict.fit, decisive === null, `${title}: a refusal of /${text} has a decisive rule`);
      const { rules: _, ...result } = explanationJson(explanation, checkOf(text)) as { readonly rules: unknown };
      const applied = `${JSON.stringify(result)} ${explanation.rules.map(({ rule }) => rule).join(", ")}`;
      const whole = explanationText({
        ...explanation,
        node: observation.node.name,
        cluster: "demo",
        check: `/${text}`,
        at: `${at} s`,
        snapshot: 1,
        instance: "a",
      });
      return [...whole.split("\n"), applied];
    });
    // Most rules are the same for several checks of a node: each line is compared once.
    return [...new Set(lines)];
  });
  return [`=== ${title}`, ...texts, shown(view)].join("\n");
}

if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(golden, scenarios.map(explained).join("\n"));
const sections = readFileSync(golden, "utf8").split(/^(?==== )/m);

test("explained.txt has the scenarios in their order", () => {
  assert.deepEqual(
    sections.map((section) => section.slice(0, section.indexOf("\n"))),
    scenarios.map(({ title }) => `=== ${title}`),
  );
});

for (const [at, scenario] of scenarios.entries()) {
  test(`each verdict is explained by every rule, and pages agree: ${scenario.title}`, () => {
    assert.equal(explained(scenario).trimEnd(), sections[at]?.trimEnd());
  });
}
