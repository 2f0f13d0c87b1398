import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isDifferentAddress,
  isOutOfScope,
  mismatchFigure,
} from "../../../../../src/core/health/evidence/node/identity.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { reportOf } from "../../../../fake/node-documents.ts";

test("a report is of another scope only where both scopes are known", () => {
  const { cluster } = new ClusterFixture();
  const [own, none] = [reportOf("pg1"), reportOf("pg1", { patroni: { version: "4.1.4", name: "pg1" } })];
  assert.equal(isOutOfScope({ ...cluster, scope: null }, own), false);
  assert.equal(isOutOfScope({ ...cluster, scope: "demo" }, own), false);
  assert.equal(isOutOfScope({ ...cluster, scope: "other" }, own), true);
  assert.equal(isOutOfScope({ ...cluster, scope: "other" }, none), false);
});

test("the figure of a foreign node names what differs, that of a misaddressed one its name", () => {
  const { cluster } = new ClusterFixture();
  const other = reportOf("pg2", { patroni: { version: "4.1.4", scope: "other", name: "pg2" } });
  const ofSystem = reportOf("pg2", { database_system_identifier: "7000000000000000009" });
  const demo = { ...cluster, scope: "demo" };
  assert.equal(mismatchFigure(demo, other, "foreign"), "scope other");
  assert.equal(mismatchFigure(demo, ofSystem, "foreign"), "system 7000000000000000009");
  assert.equal(mismatchFigure(demo, ofSystem, "misaddressed"), "pg2");
});

test("two spellings of one host are one address", () => {
  for (const [one, other] of [
    ["fd00::1", "FD00:0:0:0:0:0:0:1"],
    ["[fd00::1]", "fd00:0000::0001"],
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["db1.internal.", "DB1.internal"],
    ["10.0.0.1", "db1.internal"],
  ] as const)
    assert.equal(isDifferentAddress({ host: one, port: 5432 }, { host: other, port: 5432 }), false, `${one} ${other}`);
  for (const [one, other] of [
    ["fd00::1", "fd00::2"],
    ["db1.internal", "db1"],
    ["fd00::1%eth0", "fd00::2"],
  ] as const)
    assert.equal(isDifferentAddress({ host: one, port: 5432 }, { host: other, port: 5432 }), true, `${one} ${other}`);
});
