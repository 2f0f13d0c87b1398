import assert from "node:assert/strict";
import { test } from "node:test";
import { discoveringCluster, applyMemberList, failUntilDown, describeNodes } from "../../fake/member-lists.ts";

test("of two known members that move to one address the first by name gets it, in any order of the list", () => {
  for (const order of [
    ["pg1 shared", "pg2 shared"],
    ["pg2 shared", "pg1 shared"],
  ]) {
    const watched = discoveringCluster();
    applyMemberList(watched, ["pg1", "pg2"], 0);
    for (const name of ["pg1", "pg2"]) failUntilDown(watched, name, 3_000);
    applyMemberList(watched, order, 4_000);
    assert.deepEqual(describeNodes(watched), ["pg1 http://shared:8008", "pg2 http://pg2:8008"]);
  }
});

test("a known member does not take the address of a fixed node, even if that node does not answer", () => {
  const watched = discoveringCluster({ nodes: ["db1"] });
  applyMemberList(watched, ["pg2"], 0);
  for (const name of ["db1", "pg2"]) failUntilDown(watched, name, 3_000);
  applyMemberList(watched, ["pg2 db1"], 4_000);
  assert.deepEqual(describeNodes(watched), ["db1 http://db1:8008", "pg2 http://pg2:8008"]);
});

test("a new member takes the address of a node that does not answer only by a list that names the lock holder", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1", "pg2"], 0);
  watched.lead("pg1", 0);
  failUntilDown(watched, "pg2", 3_000);
  applyMemberList(watched, ["pg1", "pg4 pg2"], 3_000);
  assert.deepEqual(describeNodes(watched), ["pg1 http://pg1:8008 seen", "pg2 http://pg2:8008"]);
  applyMemberList(watched, ["pg1", "pg4 pg2"], 3_001, { leader: "pg1" });
  assert.deepEqual(describeNodes(watched), ["pg1 http://pg1:8008 seen", "pg4 http://pg2:8008"]);
});

test("a new member does not replace a node that the same list has at an address without enough votes", () => {
  const watched = discoveringCluster();
  applyMemberList(watched, ["pg1", "pg2", "pg3"], 0);
  watched.lead("pg1", 0);
  watched.follow("pg3", 0);
  failUntilDown(watched, "pg2", 3_000);
  for (const of of ["pg1", "pg3"]) applyMemberList(watched, ["pg1", "pg2", "pg3"], 3_000, { of, leader: "pg1" });
  applyMemberList(watched, ["pg1", "pg2 elsewhere", "pg3", "pg4 pg2"], 3_001, { leader: "pg1" });
  assert.deepEqual(describeNodes(watched), [
    "pg1 http://pg1:8008 seen",
    "pg2 http://pg2:8008",
    "pg3 http://pg3:8008 seen",
  ]);
});
