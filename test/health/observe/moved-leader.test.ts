import assert from "node:assert/strict";
import { test } from "node:test";
import { primaryPage } from "../../fake/exporter-page.ts";
import { applyMemberList, describeNodes, discoveringCluster, failUntilDown } from "../../fake/member-lists.ts";

test("a node that led and changes its address does not break ties there", () => {
  const lead = (elsewhere: boolean, timelines: readonly [number, number]): readonly string[] => {
    const watched = discoveringCluster();
    applyMemberList(watched, ["pg1", "pg2"], 0);
    watched.lead("pg1", 0, { timeline: timelines[0] });
    watched.lead("pg1", 1_000, { timeline: timelines[0] });
    applyMemberList(watched, [elsewhere ? "pg1 elsewhere" : "pg1", "pg2"], 2_000, { of: "pg1", leader: "pg1" });
    watched.lead("pg2", 2_001, { timeline: timelines[1] });
    watched.lead("pg1", 2_002, { timeline: timelines[0] });
    return ["pg1", "pg2"].map((name) => watched.judge(name, "primary", 2_003));
  };
  assert.deepEqual(lead(false, [1, 2]), ["fit", "superseded"]);
  assert.deepEqual(lead(true, [1, 2]), ["superseded", "fit"]);
  assert.deepEqual(lead(true, [2, 1]), ["fit", "superseded"]);
  assert.deepEqual(lead(true, [1, 1]), ["contested", "contested"]);
});

test("a node that led keeps that while another node changes its address", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1", "pg2"], 0);
  watched.lead("pg1", 0);
  watched.lead("pg1", 1_000);
  watched.follow("pg2", 1_000);
  applyMemberList(watched, ["pg1", "pg2 elsewhere"], 2_000, { of: "pg2", leader: "pg1" });
  watched.lead("pg2", 2_001, { timeline: 2 });
  assert.deepEqual(
    ["pg1", "pg2"].map((name) => watched.judge(name, "primary", 2_002)),
    ["fit", "superseded"],
  );
});

test("a node that led and gave up the lock keeps that while another node changes its address", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1", "pg2"], 0);
  watched.lead("pg1", 0);
  watched.lead("pg1", 1_000);
  watched.follow("pg1", 1_500);
  watched.follow("pg2", 1_500);
  applyMemberList(watched, ["pg1", "pg2 elsewhere"], 2_000, { of: "pg2" });
  assert.deepEqual(describeNodes(watched), ["pg1 http://pg1:8008 seen", "pg2 http://elsewhere:8008"]);
  watched.lead("pg1", 2_001);
  watched.lead("pg2", 2_002, { timeline: 2 });
  assert.deepEqual(
    ["pg1", "pg2"].map((name) => watched.judge(name, "primary", 2_003)),
    ["fit", "superseded"],
  );
});

test("a node that led does not break ties once it changes its address, even if others do so with the same list", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1", "pg2"], 0);
  watched.lead("pg1", 0);
  watched.lead("pg1", 1_000);
  for (const name of ["pg1", "pg2"]) failUntilDown(watched, name, 10_000);
  applyMemberList(watched, ["pg1 one", "pg2 other"], 12_000);
  assert.deepEqual(describeNodes(watched), ["pg1 http://one:8008", "pg2 http://other:8008"]);
  watched.lead("pg1", 12_001);
  watched.lead("pg2", 12_002, { timeline: 2 });
  assert.deepEqual(
    ["pg1", "pg2"].map((name) => watched.judge(name, "primary", 12_003)),
    ["superseded", "fit"],
  );
});

test("a node that led and gets an address for its API, having had none, keeps that", () => {
  const watched = discoveringCluster({ nodes: [{ name: "pg1", api: null, exporter: "http://pg1:9630" }] });
  const sent = { kind: "exporter", cluster: "demo", node: "pg1" } as const;
  for (const databaseTimeS of [0, 1]) {
    const atMs = databaseTimeS * 1_000;
    const page = { ...primaryPage, databaseTimeS };
    for (const result of [{ endpoint: "up", role: "primary" } as const, { endpoint: "metrics", page } as const])
      watched.record({ ...sent, sentAtMs: atMs, sentAtWallMs: atMs, result }, atMs);
  }
  assert.equal(watched.cluster.leadership.incumbent, "pg1");
  applyMemberList(watched, ["pg1", "pg2"], 2_000, { leader: "pg1" });
  assert.deepEqual(describeNodes(watched), ["pg1 http://pg1:8008", "pg2 http://pg2:8008"]);
  assert.equal(watched.cluster.leadership.incumbent, "pg1");
});
