import assert from "node:assert/strict";
import { test } from "node:test";
import { isOutOfScope } from "../../../src/health/evidence/identity.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";
import { reportOf } from "../../fake/node-documents.ts";

test("a report is of another scope only where both scopes are known", () => {
  const { cluster } = new ClusterFixture();
  const [own, none] = [reportOf("pg1"), reportOf("pg1", { patroni: { version: "4.1.4", name: "pg1" } })];
  assert.equal(isOutOfScope({ ...cluster, scope: null }, own), false);
  assert.equal(isOutOfScope({ ...cluster, scope: "demo" }, own), false);
  assert.equal(isOutOfScope({ ...cluster, scope: "other" }, own), true);
  assert.equal(isOutOfScope({ ...cluster, scope: "other" }, none), false);
});
