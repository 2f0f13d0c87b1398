import assert from "node:assert/strict";
import { test } from "node:test";
import { AskedNodes } from "../../../src/app/handlers/asked-nodes.ts";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { NodeCensus } from "../../../src/core/http/message/node-census.ts";
import type { ChangeListener } from "../../../src/core/state/store.ts";
import { clusterStateOf } from "../../fake/cluster-state.ts";

function clusterWith(...names: readonly string[]): ClusterState {
  const cluster = clusterStateOf(names.map((name, at) => ({ name, role: at === 0 ? "primary" : "replica" })));
  return { ...cluster, isMembershipKnown: true };
}

test("a member that joins has five minutes until balancers must ask for it; workers' checks count", async () => {
  let nowMs = 0;
  let changed: ChangeListener = () => {};
  let refreshes = 0;
  const nodes = new NodeCensus(() => nowMs);
  const asked = new AskedNodes({
    store: {
      onChange: (listener) => {
        changed = listener;
        return () => {};
      },
    },
    counter: { nodes },
    listeners: () => ({
      asked: () => [{ cluster: "demo", node: "pg2", agoMs: 100, forMs: 10 * 60_000 }],
      refresh: async () => void (refreshes += 1),
    }),
    now: () => nowMs,
  });
  const [before, after] = [clusterWith("pg1", "pg2"), clusterWith("pg1", "pg2", "pg4")];
  const unasked = async (cluster: ClusterState): Promise<readonly string[]> => {
    const found = (await asked.describe())(cluster);
    return [...found.nodes].filter(([, fields]) => fields.unasked).map(([name]) => name);
  };
  changed(before, before);
  for (nowMs = 0; nowMs <= 600_000; nowMs += 1_000) nodes.note("demo", "pg1", true);
  nowMs = 600_000;
  assert.deepEqual(await unasked(before), []);
  changed(before, after);
  nowMs = 899_999;
  nodes.note("demo", "pg1", true);
  assert.deepEqual(await unasked(after), []);
  nowMs = 900_000;
  assert.deepEqual(await unasked(after), ["pg4"]);
  // A change of anything else starts no count anew.
  changed(after, { ...after, revision: 9 });
  assert.deepEqual(await unasked({ ...after, revision: 9 }), ["pg4"]);
  nodes.note("demo", "pg4", true);
  assert.deepEqual(await unasked(after), []);
  assert.equal(refreshes, 5);
  // Without waiting: first what is known, then what was read.
  nowMs = 2_000_000;
  nodes.note("demo", "pg4", true);
  assert.equal(asked.of(after).nodes.size, 0);
  await new Promise(setImmediate);
  assert.equal(asked.of(after).nodes.get("pg4")?.asked_ms_ago, 0);
  nowMs += 4_999;
  assert.equal(asked.of(after).nodes.get("pg4")?.asked_ms_ago, 0);
  assert.equal(refreshes, 6, "the counts are not read again within five seconds");
});
