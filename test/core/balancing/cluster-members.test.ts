import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterMembers } from "../../../src/core/balancing/cluster-members.ts";
import { applyMemberList, discoveringCluster, failUntilDown } from "../../fake/member-lists.ts";

type Watched = ReturnType<typeof discoveringCluster>;

function shown({ cluster, policy }: Pick<Watched, "cluster" | "policy">): readonly string[] {
  const { isComplete, members } = clusterMembers(cluster, policy);
  return [
    isComplete ? "complete" : "incomplete",
    ...members.map(({ node, isProved }) => `${node}${isProved ? " proved" : ""}`),
  ];
}

test("members are complete once a list was read, and proved once they have answered", () => {
  const watched = discoveringCluster({ policy: { discovers: true } });
  assert.deepEqual(shown(watched), ["incomplete"]);
  applyMemberList(watched, ["pg1", "pg2"], 0);
  watched.lead("pg1", 10);
  assert.deepEqual(shown(watched), ["complete", "pg1 proved", "pg2"]);
});

test("a node leaves once it is down and another list omits it; one that answers, or is listed, stays", () => {
  const watched = discoveringCluster({ policy: { discovers: true } });
  applyMemberList(watched, ["pg1", "pg2", "pg3"], 0);
  for (const name of ["pg1", "pg2", "pg3"]) watched.follow(name, 10);
  applyMemberList(watched, ["pg1", "pg3"], 1_000);
  assert.deepEqual(shown(watched).slice(1), ["pg1 proved", "pg2 proved", "pg3 proved"], "pg2 answers");
  failUntilDown(watched, "pg2", 4_000);
  failUntilDown(watched, "pg3", 4_000);
  assert.deepEqual(shown(watched).slice(1), ["pg1 proved", "pg3 proved"], "pg3 is down and listed");
  applyMemberList(watched, ["pg1", "pg2", "pg3"], 5_000);
  assert.deepEqual(shown(watched).slice(1), ["pg1 proved", "pg2 proved", "pg3 proved"]);
});

test("without the cluster nothing is known", () => {
  assert.deepEqual(clusterMembers(undefined, undefined), { isComplete: false, members: [] });
});
