import assert from "node:assert/strict";
import { test } from "node:test";
import { applyMemberList, discoveringCluster } from "../../fake/member-lists.ts";

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
