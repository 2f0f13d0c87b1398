import assert from "node:assert/strict";
import { test } from "node:test";
import { discoveringCluster, applyMemberList, failUntilDown, describeNodes } from "../../../fake/member-lists.ts";

test("a known member does not take the address of a fixed node, even if that node does not answer", () => {
  const watched = discoveringCluster({ nodes: ["db1"] });
  applyMemberList(watched, ["pg2"], 0);
  for (const name of ["db1", "pg2"]) failUntilDown(watched, name, 3_000);
  applyMemberList(watched, ["pg2 db1"], 4_000);
  assert.deepEqual(describeNodes(watched), ["db1 http://db1:8008", "pg2 http://pg2:8008"]);
});
