import assert from "node:assert/strict";
import { test } from "node:test";
import { applyMemberList, discoveringCluster } from "../../../fake/member-lists.ts";

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
