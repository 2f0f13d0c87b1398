import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { withAccusations } from "../../../src/core/state/saved-accusations.ts";
import { hasSameSavedState, readSavedState, writeSavedState } from "../../../src/core/state/saved-state.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

const behind = { xlog: { received_location: 500, replayed_location: 500 } };

/** pg1 leads and moves; after 10 s pg2 is detached, and pg3, which is listed but does not move, is stalled. */
function accusing(seconds: number): ClusterFixture {
  const watched = new ClusterFixture();
  for (let at = 0; at <= seconds; at += 1) tick(watched, at);
  return watched;
}

function tick(watched: ClusterFixture, at: number): void {
  const replication = [{ application_name: "pg3", client_addr: "10.0.0.3", state: "streaming" }];
  watched.lead("pg1", at * 1000, { xlog: { location: 1000 + at }, replication });
  watched.follow("pg2", at * 1000, behind);
  watched.follow("pg3", at * 1000, behind);
}

function snapshotOf(cluster: ClusterState): Parameters<typeof writeSavedState>[1] {
  return { instance: "run", sequence: 1, clusters: [cluster], index: new Map([["demo", 0]]) };
}

/** Another run that starts from the file. */
async function restarted(
  file: string,
  nodes?: ConstructorParameters<typeof ClusterFixture>[0],
): Promise<ClusterFixture> {
  const watched = new ClusterFixture(nodes);
  const [monitored] = withAccusations(
    [{ cluster: watched.cluster, policy: watched.policy }],
    (await readSavedState(file, [])).accusations,
  );
  watched.cluster = monitored?.cluster ?? watched.cluster;
  return watched;
}

suite("accusations in the state file", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "rolecall-accusations-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  test("survive a restart until the node gives a sign of recovery", async () => {
    const file = join(folder, "state.json");
    await writeSavedState(file, snapshotOf(accusing(10).cluster));
    const watched = await restarted(file);
    tick(watched, 20);
    assert.deepEqual(
      [watched.judge("pg2", "/replica", 20_000), watched.judge("pg3", "/replica", 20_000)],
      ["detached", "stalled"],
    );
    watched.follow("pg2", 21_000, { xlog: { received_location: 501, replayed_location: 500 } });
    watched.follow("pg3", 21_000, { xlog: { received_location: 1020, replayed_location: 500 } });
    assert.deepEqual(
      [watched.judge("pg2", "/replica", 21_000), watched.judge("pg3", "/replica", 21_000)],
      ["fit", "fit"],
    );
  });

  test("do not apply to another machine with the same name, and are empty if no node is accused", async () => {
    const file = join(folder, "other.json");
    await writeSavedState(file, snapshotOf(accusing(9).cluster));
    assert.deepEqual((JSON.parse(readFileSync(file, "utf8")) as { accused: unknown }).accused, []);
    await writeSavedState(file, snapshotOf(accusing(10).cluster));
    const watched = await restarted(file, { nodes: ["pg1", { name: "pg2", api: "http://elsewhere:8008" }, "pg3"] });
    tick(watched, 20);
    assert.deepEqual(
      [watched.judge("pg2", "/replica", 20_000), watched.judge("pg3", "/replica", 20_000)],
      ["fit", "stalled"],
    );
  });

  test("keep a diverged node unfit until the leader's timeline is known; after that the evidence decides", async () => {
    const file = join(folder, "diverged.json");
    const left = { timeline: 1, xlog: { received_location: 700, replayed_location: 700 } };
    const earlier = new ClusterFixture();
    earlier.lead("pg1", 0, { timeline: 2, xlog: { location: 900 } });
    earlier.document("history", { of: "pg1", value: [[1, 600, "no recovery target specified"]] }, 100);
    earlier.follow("pg2", 1_000, left);
    earlier.lead("pg1", 2_000, { timeline: 2, xlog: { location: 900 } });
    assert.equal(earlier.judge("pg2", "/replica", 2_000), "diverged");
    await writeSavedState(file, snapshotOf(earlier.cluster));
    const watched = await restarted(file);
    watched.follow("pg2", 20_000, left);
    assert.equal(watched.judge("pg2", "/replica", 20_000), "diverged");
    watched.lead("pg1", 21_000, { timeline: 2, xlog: { location: 900 } });
    watched.follow("pg2", 21_500, { timeline: 2, xlog: { received_location: 900, replayed_location: 900 } });
    assert.equal(watched.judge("pg2", "/replica", 21_500), "fit");
  });

  test("keep a forked node unfit although the leader has passed its position, and cause a write", async () => {
    const file = join(folder, "forked.json");
    const ahead = { xlog: { received_location: 9_000, replayed_location: 9_000 } };
    const earlier = new ClusterFixture();
    for (const second of [0, 1, 2]) {
      earlier.lead("pg1", second * 1_000, { xlog: { location: 4_000 + second } });
      if (second < 2) earlier.follow("pg2", second * 1_000 + 500, ahead);
    }
    const unaccused = earlier.cluster;
    earlier.follow("pg2", 2_500, ahead);
    assert.equal(earlier.judge("pg2", "/replica", 2_500), "diverged");
    assert.equal(hasSameSavedState(unaccused, earlier.cluster), false);
    await writeSavedState(file, snapshotOf(earlier.cluster));
    const { accused } = JSON.parse(readFileSync(file, "utf8")) as { accused: { forked_up_to: unknown }[] };
    assert.deepEqual(
      accused.map(({ forked_up_to }) => forked_up_to),
      [9_000],
    );
    const watched = await restarted(file);
    watched.lead("pg1", 20_000, { xlog: { location: 9_500 } });
    watched.follow("pg2", 20_500, ahead);
    assert.equal(watched.judge("pg2", "/replica", 20_500), "diverged");
    const replication = [{ application_name: "pg2", client_addr: null, state: "streaming" }];
    watched.lead("pg1", 21_000, { xlog: { location: 9_500 }, replication });
    watched.follow("pg2", 21_500, { xlog: { received_location: 9_500, replayed_location: 9_500 } });
    assert.equal(watched.judge("pg2", "/replica", 21_500), "fit");
  });

  test("keep the last leader of a repeated timeline unfit, up to what it first reports as a replica", async () => {
    const file = join(folder, "last-leader.json");
    const earlier = new ClusterFixture();
    earlier.follow("pg1", 0, { xlog: { received_location: 900, replayed_location: 900 } });
    earlier.lead("pg2", 0, { timeline: 2, xlog: { location: 1_200 } });
    earlier.answer("pg2", { fields: { role: "primary", timeline: 2, xlog: { location: 1_200 } } }, 1_000);
    earlier.lead("pg1", 1_100, { timeline: 2, xlog: { location: 1_000 } });
    await writeSavedState(file, snapshotOf(earlier.cluster));
    const { accused } = JSON.parse(readFileSync(file, "utf8")) as { accused: object[] };
    assert.deepEqual(accused, [
      {
        cluster: "demo",
        node: "pg2",
        api: "http://pg2:8008",
        detached: false,
        stalled: false,
        diverged: false,
        forked_up_to: 1_200,
        forked_end_known: false,
      },
    ]);
    const watched = await restarted(file);
    const replication = [{ application_name: "pg2", client_addr: null, state: "streaming" }];
    for (const second of [20, 25, 30, 35]) {
      watched.lead("pg1", second * 1_000, { timeline: 2, xlog: { location: 1_400 + second }, replication });
      watched.follow("pg2", second * 1_000, {
        timeline: 2,
        xlog: { received_location: 1_300, replayed_location: 1_300 },
      });
      assert.equal(watched.judge("pg2", "/replica", second * 1_000), "diverged");
    }
  });

  test("cause a write when they begin and when they end, and not in between", () => {
    const watched = accusing(9);
    const unaccused = watched.cluster;
    tick(watched, 10);
    const accused = watched.cluster;
    tick(watched, 11);
    const later = watched.cluster;
    assert.equal(hasSameSavedState(unaccused, accused), false);
    assert.equal(hasSameSavedState(accused, unaccused), false);
    assert.equal(hasSameSavedState(accused, later), true);
  });

  test("are empty for a file that cannot be read", async () => {
    const file = join(folder, "odd.json");
    for (const text of [
      "",
      "[]",
      "{}",
      '{"accused":3}',
      '{"accused":[null,3,{"cluster":"demo"},{"cluster":"demo","node":"pg2","api":3,"detached":1}]}',
      '{"accused":[{"cluster":"demo","node":"pg2","api":"http://pg2:8008","forked_up_to":-1}]}',
      '{"accused":[{"cluster":"demo","node":"pg2","api":"http://pg2:8008","forked_up_to":"9000"}]}',
    ]) {
      writeFileSync(file, text);
      const watched = await restarted(file);
      tick(watched, 20);
      assert.equal(watched.judge("pg2", "/replica", 20_000), "fit", text);
    }
    const watched = await restarted(join(folder, "absent.json"));
    tick(watched, 20);
    assert.equal(watched.judge("pg2", "/replica", 20_000), "fit");
  });
});
