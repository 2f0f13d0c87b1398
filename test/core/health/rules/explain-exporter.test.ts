import assert from "node:assert/strict";
import { test } from "node:test";
import { plainCheck } from "../../../../src/core/health/check.ts";
import { explain } from "../../../../src/core/health/rules/explain.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

test("an explanation says why an exporter beside an API gave no answer, or that it was never probed", () => {
  const watched = new ClusterFixture({ nodes: [{ name: "pg1", api: "http://pg1:8008", exporter: "http://pg1:9630" }] });
  watched.lead("pg1", 0);
  const shown = (): string | undefined => {
    const view = viewAt(watched.cluster, watched.policy, 0);
    const [observation] = view.cluster.nodes;
    assert.ok(observation !== undefined);
    const { rules } = explain(view, observation, plainCheck("primary"));
    return rules.find(({ rule }) => rule === "exporter")?.value;
  };
  assert.equal(shown(), "no answer: never probed");
  const result = { endpoint: "up", failure: { kind: "timeout", detail: "no answer within 2500 ms" } } as const;
  watched.record({ kind: "exporter", cluster: "demo", node: "pg1", sentAtMs: 0, sentAtWallMs: 0, result }, 0);
  assert.equal(shown(), "no answer: no answer within 2500 ms");
});
