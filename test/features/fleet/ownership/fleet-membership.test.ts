import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import { FleetFixture, leaseMs, type Member } from "../../../fake/fleet-fixture.ts";
import type { FleetKeys } from "../../../fake/fleet-keys.ts";

suite("a fleet", () => {
  test("moves nothing to and fro when etcd is back with data of before a drain that one member has not seen", async () => {
    const fleet = new FleetFixture(10);
    const [a, b] = [fleet.add("a"), fleet.add("b")];
    await fleet.clock.pass(20_000);
    b.store.isCut = true;
    await fleet.clock.pass(100);
    await a.membership.drain("a", { by: "ann", until: null }, 600);
    const older = [...fleet.keys.keys].filter(([key]) => key !== "draining/a");
    fleet.keys.isDown = true;
    await fleet.clock.pass(1_000);
    fleet.keys.keys = new Map(older);
    fleet.keys.restart();
    b.store.isCut = false;
    await fleet.clock.pass(2_000);
    const before = [a, b].map(({ membership }) => membership.changes.gained);
    await fleet.clock.pass(10_000);
    fleet.check();
    assert.deepEqual([a.membership.view.draining.size, b.membership.view.draining.size], [0, 0]);
    assert.deepEqual(
      [a, b].map(({ membership }) => membership.changes.gained),
      before,
    );
  });

  test("gives each cluster one owner, whom the others follow; members that come later take their share", async () => {
    const fleet = new FleetFixture(120);
    for (const id of ["a", "b", "c"]) fleet.add(id);
    await fleet.clock.pass(2_000);
    fleet.check();
    for (const id of ["d", "e", "f"]) fleet.add(id);
    await fleet.clock.pass(5_000);
    fleet.check();
    assert.deepEqual(
      fleet.members.slice(3).map((member) => fleet.owned(member).length),
      [0, 0, 0],
      "one that has just come is given nothing",
    );
    await fleet.clock.pass(20_000);
    fleet.check();
    for (const member of fleet.members) {
      const { length } = fleet.owned(member);
      assert.ok(length >= 8 && length <= 34, `${member.id} owns ${length} of 120`);
    }
  });

  test("shares by weight", async () => {
    const fleet = new FleetFixture(300);
    const [heavy, light] = [fleet.add("a", { weight: 4 }), fleet.add("b", { weight: 1 })];
    await fleet.clock.pass(20_000);
    const share = fleet.owned(heavy).length / fleet.owned(light).length;
    assert.ok(share > 2.8 && share < 5.6, `${share}`);
  });

  test("takes over the clusters of a member that is gone, and moves no others", async () => {
    const fleet = new FleetFixture(100);
    const [a, b, c] = ["a", "b", "c"].map((id) => fleet.add(id));
    assert.ok(a !== undefined && b !== undefined && c !== undefined);
    await fleet.clock.pass(20_000);
    const before = [a, b, c].map((member) => fleet.owned(member));
    a.store.isCut = true;
    await fleet.clock.pass(leaseMs + 1_500);
    fleet.check([b, c]);
    assert.deepEqual(
      [b, c].map(({ membership: { owned } }) => owned),
      [b, c].map((member) => fleet.owned(member).length),
    );
    for (const [at, member] of [b, c].entries())
      assert.ok(before[at + 1]?.every((name) => fleet.owned(member).includes(name)));
    // It sees nothing, and goes on.
    assert.deepEqual(fleet.owned(a), before[0]);
    a.store.isCut = false;
    await fleet.clock.pass(2_000);
    fleet.check();
    assert.equal(fleet.owned(a).length, 0, "it follows who has taken over");
    await fleet.clock.pass(20_000);
    fleet.check();
    assert.deepEqual(fleet.owned(a), before[0]);
    const { changes, owned } = a.membership;
    assert.equal(changes.gained - changes.lost, owned);
    assert.ok(changes.lost >= owned, "it had lost all of them");
  });

  test("a member that leaves gives its clusters to the others at once", async () => {
    const fleet = new FleetFixture(60);
    const [a, b, c] = ["a", "b", "c"].map((id) => fleet.add(id));
    assert.ok(a !== undefined && b !== undefined && c !== undefined);
    await fleet.clock.pass(20_000);
    await a.membership.stop();
    await fleet.clock.pass(300);
    fleet.check([b, c]);
  });

  for (const [what, restore] of [
    ["is down for a minute", (keys: FleetKeys) => keys.restart()],
    [
      "is down for a minute, and has lost all keys",
      (keys: FleetKeys) => {
        keys.keys.clear();
        keys.leases.clear();
        keys.restart();
      },
    ],
  ] as const)
    test(`nothing changes while etcd ${what}`, async () => {
      const fleet = new FleetFixture(60);
      for (const id of ["a", "b", "c", "d"]) fleet.add(id);
      await fleet.clock.pass(30_000);
      fleet.check();
      const before = fleet.members.map(({ changes }) => changes);
      fleet.keys.isDown = true;
      await fleet.clock.pass(60_000);
      restore(fleet.keys);
      await fleet.clock.pass(30_000);
      fleet.check();
      assert.deepEqual(
        fleet.members.map(({ changes }) => changes),
        before,
      );
    });

  for (const [what, damage] of [
    [
      "all keys of the fleet are deleted",
      (keys: FleetKeys) => [...keys.keys.keys()].forEach((key) => keys.remove(key)),
    ],
    ["the key of a member is deleted", (keys: FleetKeys) => keys.remove("members/a")],
    ["the key of a member is damaged", (keys: FleetKeys) => keys.put("members/a", "?", keys.grant())],
  ] as const)
    test(`nothing moves if ${what}, and a member that is gone has successors afterwards`, async () => {
      const fleet = new FleetFixture(60);
      const [a, b, c] = ["a", "b", "c"].map((id) => fleet.add(id));
      assert.ok(a !== undefined && b !== undefined && c !== undefined);
      await fleet.clock.pass(20_000);
      const before = fleet.members.map((member) => fleet.owned(member));
      damage(fleet.keys);
      await fleet.clock.pass(leaseMs + 1_000);
      assert.deepEqual(
        fleet.members.map(({ membership }) => membership.view.members.size),
        [3, 3, 3],
      );
      assert.deepEqual(
        fleet.members.map((member) => fleet.owned(member)),
        before,
      );
      b.store.isCut = true;
      await fleet.clock.pass(leaseMs + 1_500);
      fleet.check([a, c]);
    });

  for (const [what, owner] of [
    ["nobody has registered", "nobody"],
    ["is gone", "b"],
    ["has no name that a member can have", "no member!"],
    ["has no name", ""],
  ] as const)
    test(`a key without the lease of its member keeps no cluster for one that ${what}`, async () => {
      const fleet = new FleetFixture(30);
      const [a, b, c] = ["a", "b", "c"].map((id) => fleet.add(id));
      assert.ok(a !== undefined && b !== undefined && c !== undefined);
      await fleet.clock.pass(20_000);
      fleet.keys.put("owners/c0/s/0", owner, fleet.keys.grant(Infinity));
      await fleet.clock.pass(1_000);
      b.store.isCut = true;
      await fleet.clock.pass(leaseMs + 15_000);
      fleet.check([a, c]);
    });

  test("a member that nobody can read writes its key once a lease", async () => {
    const fleet = new FleetFixture(2);
    const a = fleet.add("not/a name");
    let writes = 0;
    fleet.keys.onRevision = () => (writes += 1);
    await fleet.clock.pass(10 * leaseMs);
    assert.equal(a.membership.view.members.size, 0);
    assert.ok(writes <= 10, `${writes} writes`);
  });

  test("older keys that come back give nothing to members that are gone, after one lease", async () => {
    const fleet = new FleetFixture(60);
    const [a, b, c] = ["a", "b", "c"].map((id) => fleet.add(id));
    assert.ok(a !== undefined && b !== undefined && c !== undefined);
    await fleet.clock.pass(20_000);
    const older = [new Map(fleet.keys.keys), new Map(fleet.keys.leases)] as const;
    a.store.isCut = true;
    await fleet.clock.pass(10_000);
    fleet.check([b, c]);
    fleet.keys.isDown = true;
    await fleet.clock.pass(3_000);
    [fleet.keys.keys, fleet.keys.leases] = [older[0], older[1]];
    fleet.keys.restart();
    await fleet.clock.pass(leaseMs + 3_000);
    fleet.check([b, c]);
  });

  test("a member that is drained passes on all of its clusters, and owns some again afterwards", async () => {
    const fleet = new FleetFixture(60);
    const [a, b] = ["a", "b"].map((id) => fleet.add(id));
    assert.ok(a !== undefined && b !== undefined);
    await fleet.clock.pass(20_000);
    await b.membership.drain("a", { by: "ann", until: null }, 600);
    await fleet.clock.pass(5_000);
    fleet.check();
    assert.equal(fleet.owned(a).length, 0);
    await b.membership.drain("b", { by: "ann", until: null }, 600);
    await fleet.clock.pass(5_000);
    fleet.check();
    await a.membership.undrain("a", "ann");
    await fleet.clock.pass(20_000);
    fleet.check();
    assert.equal(fleet.owned(b).length, 0, "b is drained still");
    await fleet.clock.pass(600_000);
    fleet.check();
    assert.ok(fleet.owned(b).length > 10);
  });

  test("a reply that comes after a later change of the same place does not count", async () => {
    const fleet = new FleetFixture(10);
    const [a, b] = [fleet.add("a"), fleet.add("b")];
    await fleet.clock.pass(20_000);
    const before = fleet.owned(a);
    const pass = a.store.pass.bind(a.store);
    a.store.pass = async (...step) => {
      const isDone = await pass(...step);
      await new Promise<void>((resolve) => fleet.clock.setTimer(resolve, 3_000));
      return isDone;
    };
    await b.membership.drain("a", { by: "ann", until: null }, 600);
    await fleet.clock.pass(1_000);
    assert.deepEqual([fleet.owned(a).length, fleet.owned(b).length], [0, 10]);
    await b.membership.undrain("a", "ann");
    await fleet.clock.pass(1_500);
    assert.deepEqual(fleet.owned(a), before);
    await fleet.clock.pass(3_000);
    fleet.check();
    assert.deepEqual(fleet.owned(a), before);
  });

  test("members that want one owner take no second place, and nothing moves while others want two", async () => {
    const fleet = new FleetFixture(20, 2);
    const one = fleet.add("a", { observers: 1 });
    fleet.add("b");
    fleet.add("c");
    await fleet.clock.pass(30_000);
    let writes = 0;
    fleet.keys.onRevision = () => (writes += 1);
    await fleet.clock.pass(30_000);
    assert.equal(writes, 0);
    for (const [key, { value }] of fleet.keys.keys)
      if (key.startsWith("owners/") && key.endsWith("/1")) assert.notEqual(value, one.id, key);
    assert.ok(fleet.owned(one).length > 0);
  });

  test("while etcd takes no writes they are not tried again and again, and go on when it does", async () => {
    const fleet = new FleetFixture(40);
    const [a, b, c] = ["a", "b", "c"].map((id) => fleet.add(id));
    assert.ok(a !== undefined && b !== undefined && c !== undefined);
    await fleet.clock.pass(20_000);
    fleet.keys.isFull = true;
    a.store.isCut = true;
    await fleet.clock.pass(60_000);
    assert.ok(fleet.keys.refused > 0 && fleet.keys.refused <= 2 * 8, `${fleet.keys.refused} writes refused`);
    assert.equal(b.membership.problem, "full");
    fleet.keys.isFull = false;
    await fleet.clock.pass(5_000);
    fleet.check([b, c]);
    assert.equal(b.membership.problem, null);
  });

  test("with two observers each cluster has owners in two zones", async () => {
    const fleet = new FleetFixture(40, 2);
    const zones = new Map([
      ["a", "x"],
      ["b", "x"],
      ["c", "y"],
      ["d", "y"],
    ]);
    for (const [id, zone] of zones) fleet.add(id, { zone });
    await fleet.clock.pass(30_000);
    fleet.check();
    const zonesOf = (name: string): readonly unknown[] =>
      fleet.members.filter((member) => fleet.owned(member).includes(name)).map(({ id }) => zones.get(id));
    for (const name of fleet.clusters) assert.deepEqual(zonesOf(name).map(String).toSorted(), ["x", "y"], name);
  });

  test("members whose configuration of a cluster differs do not share it", async () => {
    const fleet = new FleetFixture(20);
    const [a, b] = [fleet.add("a"), fleet.add("b")];
    const other = fleet.add("other", { shape: "t" });
    await fleet.clock.pass(20_000);
    fleet.check([a, b]);
    assert.equal(fleet.owned(other).length, 20);
  });

  test("a cluster that a member no longer serves is owned by another one", async () => {
    const fleet = new FleetFixture(20);
    const [a, b] = [fleet.add("a"), fleet.add("b")];
    await fleet.clock.pass(20_000);
    a.membership.serve({ clusters: new Map(), observers: 1 });
    await fleet.clock.pass(2_500);
    assert.equal(fleet.owned(b).length, 20);
  });

  test("an instance leaves that another one replaces under the same address", async () => {
    const fleet = new FleetFixture(20);
    const a = fleet.add("a");
    await fleet.clock.pass(3_000);
    const again = fleet.add("a", { instance: "second" });
    await fleet.clock.pass(8_000);
    assert.deepEqual([a.displaced, again.displaced], [1, 0]);
    assert.deepEqual(
      [a, again].map(({ membership: { phase, problem } }) => [phase.kind, problem]),
      [
        ["stopped", "another instance advertises the same address"],
        ["joined", null],
      ],
    );
    fleet.check([again]);
  });

  test("whatever fails, each cluster has one owner again among those that are left", async () => {
    const event = fc.record({
      kind: fc.constantFrom("cut", "heal", "down", "up", "stop", "add", "wait", "drain"),
      at: fc.nat(5),
      ms: fc.integer({ min: 10, max: 12_000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 25 }), async (events) => {
        const fleet = new FleetFixture(12);
        for (const id of ["a", "b", "c"]) fleet.add(id);
        const stopped = new Set<Member>();
        for (const { kind, at, ms } of events) {
          const member = fleet.members[at % fleet.members.length];
          if (member === undefined) continue;
          if (kind === "cut") member.store.isCut = true;
          if (kind === "heal") member.store.isCut = false;
          if (kind === "down") fleet.keys.isDown = true;
          if (kind === "up" && fleet.keys.isDown) fleet.keys.restart();
          if (kind === "stop" && fleet.members.length - stopped.size > 1) {
            stopped.add(member);
            await member.membership.stop();
          }
          if (kind === "add" && fleet.members.length < 6) fleet.add(`m${fleet.members.length}`);
          if (kind === "drain")
            await member.membership.drain(member.id, { by: "ann", until: null }, 60).catch(() => {});
          await fleet.clock.pass(ms);
        }
        if (fleet.keys.isDown) fleet.keys.restart();
        for (const { store } of fleet.members) store.isCut = false;
        await fleet.clock.pass(120_000);
        fleet.check(fleet.members.filter((member) => !stopped.has(member)));
        const changes = fleet.members.map((member) => member.changes);
        await fleet.clock.pass(60_000);
        assert.deepEqual(
          fleet.members.map((member) => member.changes),
          changes,
          "nothing moves any more",
        );
      }),
      { numRuns: 30 },
    );
  });
});
