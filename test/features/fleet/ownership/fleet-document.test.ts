import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { FleetSurroundings } from "../../../../src/features/fleet/ownership/fleet-document.ts";
import { sharedShape } from "../../../../src/core/config/outcome-shape.ts";
import { clusterOf, configOf } from "../../../fake/config.ts";
import { FleetFixture, leaseMs, type Member } from "../../../fake/fleet-fixture.ts";

const cluster = clusterOf({ scope: "orders" });
const { probe } = configOf({ clusters: [cluster] });
const shape = sharedShape(cluster, probe);
const slower = sharedShape(cluster, { ...probe, intervalMs: 2_000 });

/** The fleet as a member shows it. */
function shown(
  { membership }: Member,
  about: Partial<FleetSurroundings> = {},
  only: string | null = null,
): ReturnType<typeof JSON.parse> {
  const surroundings: FleetSurroundings = {
    name: "edges",
    streams: new Map(),
    isProbed: () => false,
    disagreementsOf: () => [],
    nowMs: 60_000,
    ...about,
  };
  return JSON.parse([...membership.pieces(surroundings, only)].join("")).fleet;
}

suite("what a member shows of its fleet", () => {
  test("the nodes about which the owners of a cluster disagree, and what each says", async () => {
    const fleet = new FleetFixture(1, 2);
    const [a] = [fleet.add("a"), fleet.add("b"), fleet.add("c")];
    await fleet.clock.pass(3_000);
    const says = new Map([
      ["http://b:9108", "answers as replica"],
      ["http://c:9108", "does not answer"],
    ]);
    const document = shown(a, { disagreementsOf: () => [{ node: "pg1", sinceMs: 50_000, says }] });
    assert.deepEqual(document.clusters[0].disagreements, [
      {
        node: "pg1",
        for_ms: 10_000,
        says: [
          { member: "b", text: "answers as replica" },
          { member: "c", text: "does not answer" },
        ],
      },
    ]);
  });

  test("members, how much each serves and owns, and what it does with each cluster itself", async () => {
    const fleet = new FleetFixture(12);
    const [a, b] = [fleet.add("a", { zone: "x", weight: 2 }), fleet.add("b")];
    await fleet.clock.pass(20_000);
    const owned = fleet.owned(a);
    assert.equal(a.membership.unshared, 0);
    await b.membership.drain("b", { by: "ann", until: "2026-01-01T00:00:00.000Z" }, 600);
    const stream = { live: true, problem: null, silent_ms: 12 };
    const document = shown(a, { streams: new Map([["http://b:9108", stream]]) });
    assert.deepEqual(
      { ...document, clusters: document.clusters.length },
      {
        name: "edges",
        member: "a",
        phase: "joined",
        problem: null,
        members: [
          {
            id: "a",
            url: "http://a:9108",
            zone: "x",
            weight: 2,
            version: "1",
            draining: null,
            serves: 12,
            owns: owned.length,
            stream: null,
          },
          {
            id: "b",
            url: "http://b:9108",
            zone: null,
            weight: 1,
            version: "1",
            draining: null,
            serves: 12,
            owns: 12 - owned.length,
            stream,
          },
        ],
        clusters: 12,
      },
      "the drain has not reached a yet",
    );
    for (const { cluster: name, owners, does, ...rest } of document.clusters) {
      const isOwned = owned.includes(name);
      assert.deepEqual([owners, does, rest], [[isOwned ? "a" : "b"], isOwned ? "owned" : "followed", {}], name);
    }
    await fleet.clock.pass(100);
    assert.deepEqual(shown(a).members[1].draining, { by: "ann", until: "2026-01-01T00:00:00.000Z" });
    assert.deepEqual(b.drains, [{ member: "b", drain: { by: "ann", until: "2026-01-01T00:00:00.000Z" }, by: "ann" }]);
  });

  test("a cluster that is followed, and probed meanwhile, is probed", async () => {
    const fleet = new FleetFixture(6);
    const [a] = [fleet.add("a"), fleet.add("b")];
    await fleet.clock.pass(20_000);
    const does = shown(a, { isProbed: () => true }).clusters.map((one: { does: string }) => one.does);
    assert.deepEqual(new Set(does), new Set(["owned", "probed"]));
  });

  test("which members do not share a cluster, and the key that differs", async () => {
    const fleet = new FleetFixture(1);
    for (const [id, own] of [
      ["a", shape],
      ["b", shape],
      ["c", slower],
    ] as const)
      fleet.add(id, { shape: own });
    await fleet.clock.pass(20_000);
    const [a, , c] = fleet.members;
    assert.ok(a !== undefined && c !== undefined);
    assert.deepEqual(
      fleet.members.map(({ membership }) => membership.unshared),
      [1, 1, 1],
    );
    const [owner = ""] = ["a", "b"].filter((_, at) => fleet.owned(fleet.members[at] ?? a).length > 0);
    const [own, other] = [
      { members: ["a", "b"], owners: [owner] },
      { members: ["c"], owners: ["c"] },
    ];
    assert.deepEqual(shown(a).clusters[0].groups, [
      { differs: null, ...own },
      { differs: "probe.interval", ...other },
    ]);
    assert.deepEqual(shown(c).clusters[0].groups, [
      { differs: null, ...other },
      { differs: "probe.interval", ...own },
    ]);
  });

  test("one cluster alone to a listener with a cluster", async () => {
    const fleet = new FleetFixture(5);
    const a = fleet.add("a");
    const b = fleet.add("b");
    b.membership.serve({ clusters: new Map([["c1", "s"]]), observers: 1 });
    await fleet.clock.pass(20_000);
    const { members, clusters } = shown(a, {}, "c0");
    assert.deepEqual(
      members.map(({ id, serves, owns }: { id: string; serves: number; owns: number }) => [id, serves, owns]),
      [["a", 1, 1]],
    );
    assert.deepEqual(clusters, [{ cluster: "c0", owners: ["a"], does: "owned" }]);
  });

  test("while apart, why, and what was known before", async () => {
    const fleet = new FleetFixture(3);
    const [a] = [fleet.add("a"), fleet.add("b")];
    await fleet.clock.pass(20_000);
    const before = shown(a);
    fleet.keys.isDown = true;
    await fleet.clock.pass(leaseMs * 3);
    assert.deepEqual(shown(a), { ...before, phase: "apart", problem: "lost" });
  });
});
