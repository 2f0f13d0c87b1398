import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { parseRefusals, withSavedRefusals } from "../../../src/core/state/saved-refusals.ts";
import { hasSameSavedState, readSavedState, writeSavedState } from "../../../src/core/state/saved-state.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

/** pg1 leads, pg2 claims too, and pg3 names pg1. */
function disputed(): { readonly unmarked: ClusterState; readonly marked: ClusterState } {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0);
  watched.follow("pg3", 0);
  watched.lead("pg2", 100);
  const unmarked = watched.cluster;
  watched.nameLeader("pg1", "pg3", 200);
  return { unmarked, marked: watched.cluster };
}

suite("refused claims in the state file", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "rolecall-refusals-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  test("cause a write, and mark the same claims after a restart", async () => {
    const { unmarked, marked } = disputed();
    assert.equal(hasSameSavedState(unmarked, marked), false);
    assert.equal(hasSameSavedState(marked, { ...marked, leadership: { ...marked.leadership } }), true);
    const file = join(folder, "state.json");
    await writeSavedState(file, { instance: "run", sequence: 1, clusters: [marked], index: new Map([["demo", 0]]) });
    const entry = { cluster: "demo", node: "pg2", api: "http://pg2:8008", beside: "pg1" };
    assert.deepEqual((JSON.parse(readFileSync(file, "utf8")) as { refused: unknown }).refused, [entry]);
    const { refusals } = await readSavedState(file, []);
    assert.deepEqual(refusals, [entry]);
    const other = new ClusterFixture();
    const [restored] = withSavedRefusals([{ cluster: other.cluster, policy: other.policy }], refusals);
    const mark = { api: "http://pg2:8008", beside: "pg1", viewSentAtMs: 0 };
    assert.deepEqual([...(restored?.cluster.leadership.refusedClaims ?? [])], [["pg2", mark]]);
  });

  test("are left out if they cannot be read, or are of no known node", () => {
    assert.deepEqual(parseRefusals([null, {}, { cluster: "demo", node: "pg2", api: 1, beside: "pg1" }]), []);
    const { cluster, policy } = new ClusterFixture();
    const unknown = [{ cluster: "demo", node: "pg9", api: "http://pg9:8008", beside: "pg1" }];
    assert.equal(withSavedRefusals([{ cluster, policy }], unknown)[0]?.cluster, cluster);
  });
});
