import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { discoveringCluster, applyMemberList, failUntilDown, describeNodes, seedUrl } from "../../fake/member-lists.ts";
import type { ClusterFixture } from "../../fake/cluster-fixture.ts";

const names = ["pg1", "pg2", "pg3", "pg4"] as const;
const limit = { intervalMs: 1_000, viewMaxAgeMs: 11_500 };

function addressesOf(watched: ClusterFixture): Readonly<Record<string, string>> {
  return Object.fromEntries(
    watched.cluster.nodes.map(({ node }) => [node.name, (node.api ?? "").replace(/^http:\/\/|:8008$/g, "")]),
  );
}

/** A cluster that is known, in which all nodes answer; the first of the names leads. */
function known(order: readonly string[]): ClusterFixture {
  const watched = discoveringCluster({ policy: limit });
  applyMemberList(watched, order, 0);
  for (const name of order)
    if (name === order[0]) watched.lead(name, 0);
    else watched.follow(name, 0);
  return watched;
}

/** The list of a clone: the same names elsewhere. */
function cloned(order: readonly string[]): readonly string[] {
  return order.map((name) => `${name} clone-${name}`);
}

/** Every order of the list, with each node in each part of the story. */
const mirrors = [
  ["pg3", "pg1", "pg2", "pg4"],
  ["pg1", "pg3", "pg4", "pg2"],
  ["pg4", "pg2", "pg1", "pg3"],
  ["pg2", "pg4", "pg3", "pg1"],
] as const;

for (const order of mirrors) {
  const [leader, guest, ...sound] = order;
  const at = `${leader} leads, a clone at ${guest}'s address`;

  test(`a clone that claims the lock moves neither itself nor the dead leader against sound witnesses: ${at}`, () => {
    for (const listed of [order, order.toReversed()]) {
      const watched = known(listed[0] === leader ? listed : order);
      for (const witness of sound) applyMemberList(watched, listed, 500, { of: witness, leader });
      failUntilDown(watched, leader, 4_000);
      for (const atMs of [4_000, 5_000, 6_000]) {
        watched.lead(guest, atMs);
        applyMemberList(watched, cloned(listed), atMs, { of: guest, leader: guest });
        for (const witness of sound) watched.follow(witness, atMs);
        assert.deepEqual(addressesOf(watched), Object.fromEntries(order.map((name) => [name, name])));
      }
      for (const witness of sound) applyMemberList(watched, listed, 6_500, { of: witness, leader });
      watched.lead(leader, 7_000);
      watched.follow(guest, 7_000);
      assert.equal(watched.judge(leader, "primary", 7_000), "fit");
      assert.equal(watched.judge(guest, "replica", 7_000), "fit");
    }
  });

  test(`a node that followed a clone while nobody else was heard comes back once more others are heard: ${at}`, () => {
    const watched = known(order);
    failUntilDown(watched, leader, 4_000);
    for (const witness of sound) failUntilDown(watched, witness, 4_000);
    watched.lead(guest, 4_000);
    applyMemberList(watched, cloned(order), 4_000, { of: guest, leader: guest });
    assert.equal(addressesOf(watched)[guest], `clone-${guest}`, "its own list is the only one");
    for (const witness of sound) watched.follow(witness, 5_000);
    watched.lead(guest, 5_000);
    applyMemberList(watched, order, 5_100, { of: sound[0] ?? "", leader });
    assert.equal(addressesOf(watched)[guest], `clone-${guest}`, "a tie");
    applyMemberList(watched, order, 5_200, { of: sound[1] ?? "", leader });
    assert.deepEqual(addressesOf(watched), Object.fromEntries(order.map((name) => [name, name])));
    assert.equal(watched.cluster.leaderViews.has(guest), false, "what the clone said is no view of the node");
    assert.equal(watched.judge(guest, "primary", 5_200), "unknown");
  });

  test(`a node that failed and moved is found once more witnesses have its new address than its old one: ${at}`, () => {
    const moved = order.map((name) => (name === guest ? `${name} new` : name));
    const watched = known(order);
    for (const witness of [leader, ...sound]) applyMemberList(watched, order, 500, { of: witness, leader });
    failUntilDown(watched, guest, 4_000);
    watched.lead(leader, 4_000);
    for (const witness of sound) watched.follow(witness, 4_000);
    applyMemberList(watched, moved, 4_100, { of: sound[0] ?? "", leader });
    assert.equal(addressesOf(watched)[guest], guest, "one of three");
    applyMemberList(watched, moved, 4_200, { of: leader, leader });
    assert.equal(addressesOf(watched)[guest], "new");
  });
}

test("of two witnesses that disagree neither moves a node; once the other's list is too old, the newer one does", () => {
  const watched = known(["pg1", "pg2", "pg3"]);
  applyMemberList(watched, ["pg1", "pg2", "pg3"], 500, { of: "pg3", leader: "pg1" });
  failUntilDown(watched, "pg2", 4_000);
  for (const atMs of [4_000, 8_000, 11_999]) {
    watched.lead("pg1", atMs);
    applyMemberList(watched, ["pg1", "pg2 new", "pg3"], atMs, { of: "pg1", leader: "pg1" });
    assert.equal(addressesOf(watched)["pg2"], "pg2", `${atMs}`);
  }
  applyMemberList(watched, ["pg1", "pg2 new", "pg3"], 12_000, { of: "pg1", leader: "pg1" });
  assert.equal(addressesOf(watched)["pg2"], "new");
});

test("a list that is not renewed as its witness does not answer counts no longer", () => {
  const watched = known(["pg1", "pg2", "pg3"]);
  applyMemberList(watched, ["pg1", "pg2", "pg3"], 500, { of: "pg3", leader: "pg1" });
  failUntilDown(watched, "pg2", 4_000);
  failUntilDown(watched, "pg3", 4_000);
  applyMemberList(watched, ["pg1", "pg2 new", "pg3"], 4_100, { of: "pg1", leader: "pg1" });
  assert.equal(addressesOf(watched)["pg2"], "new");
});

test("a real move is found where one other node answers, and where none does", () => {
  const watched = known(["pg1", "pg2"]);
  applyMemberList(watched, ["pg1", "pg2"], 500, { of: "pg1", leader: "pg1" });
  failUntilDown(watched, "pg2", 4_000);
  applyMemberList(watched, ["pg1", "pg2 new"], 4_100, { of: "pg1", leader: "pg1" });
  assert.deepEqual(addressesOf(watched), { pg1: "pg1", pg2: "new" });
  failUntilDown(watched, "pg1", 8_000);
  failUntilDown(watched, "pg2", 8_000);
  applyMemberList(watched, ["pg1 new1", "pg2 new2"], 8_100, { of: seedUrl, leader: null });
  assert.deepEqual(addressesOf(watched), { pg1: "new1", pg2: "new2" });
});

test("a node's own new address waits until no more others have its old one", () => {
  const watched = known(["pg1", "pg2", "pg3"]);
  const moved = ["pg1", "pg2 new", "pg3"];
  for (const of of ["pg1", "pg3"]) applyMemberList(watched, ["pg1", "pg2", "pg3"], 500, { of, leader: "pg1" });
  applyMemberList(watched, moved, 1_000, { of: "pg2", leader: "pg1" });
  applyMemberList(watched, moved, 1_100, { of: "pg1", leader: "pg1" });
  assert.equal(addressesOf(watched)["pg2"], "new", "two of three have it");
  assert.deepEqual(describeNodes(watched)[1], "pg2 http://new:8008");
});

test("a fixed node keeps its address whatever most lists say", () => {
  const watched = discoveringCluster({ nodes: [{ name: "pg2", api: "http://pg2:8008" }], policy: limit });
  applyMemberList(watched, ["pg1", "pg2", "pg3"], 0);
  watched.lead("pg1", 0);
  watched.follow("pg2", 0);
  watched.follow("pg3", 0);
  for (const of of ["pg1", "pg2", "pg3"])
    applyMemberList(watched, ["pg1", "pg2 new", "pg3"], 1_000, { of, leader: "pg1" });
  assert.equal(addressesOf(watched)["pg2"], "pg2");
});

test("a node that denies the lock at another address than the view's makes no view void", () => {
  for (const [first, second] of [
    ["pg2", "pg4"],
    ["pg4", "pg2"],
  ] as const) {
    for (const elsewhere of [false, true]) {
      const watched = known([...names]);
      watched.follow("pg1", 1_000);
      watched.lead("pg1", 2_000);
      const listed = names.map((name) => (name === "pg3" && elsewhere ? "pg3 truly" : name));
      applyMemberList(watched, [...names], 3_000, { of: "pg1", leader: "pg1" });
      applyMemberList(watched, [...names], 3_000, { of: "pg3", leader: "pg3" });
      for (const of of [first, second]) applyMemberList(watched, listed, 3_000, { of, leader: "pg3" });
      assert.equal(addressesOf(watched)["pg3"], "pg3", "it answers there, and as many have it there");
      watched.follow("pg3", 4_000);
      watched.lead("pg1", 4_000);
      assert.equal(watched.judge("pg1", "primary", 4_000), elsewhere ? "superseded" : "fit");
    }
  }
});

/** Who answers at an address. */
interface Place {
  readonly name: string;
  readonly isClone: boolean;
}

/** One round of probes and lists: a clone answers at pg1's address while `hasGuest`, and some nodes are dead. */
interface Round {
  readonly hasGuest: boolean;
  readonly dead: readonly string[];
  readonly asked: readonly string[];
}

const round: fc.Arbitrary<Round> = fc.record({
  hasGuest: fc.boolean(),
  dead: fc.subarray(["pg2", "pg3", "pg4"], { maxLength: 1 }),
  asked: fc.shuffledSubarray([...names], { minLength: 1 }),
});

/** Who answers where, as the truth is in a round. */
function placesOf({ hasGuest, dead }: Round): ReadonlyMap<string, Place> {
  const own = names
    .filter((name) => !dead.includes(name))
    .map((name): [string, Place] => [name, { name, isClone: false }]);
  const clones = names.map((name): [string, Place] => [`clone-${name}`, { name, isClone: true }]);
  return new Map([...own, ...clones, ["pg1", { name: "pg1", isClone: hasGuest }]]);
}

function play(watched: ClusterFixture, now: Round, atMs: number): void {
  const places = placesOf(now);
  const hostOf = (name: string): string => addressesOf(watched)[name] ?? "";
  for (const name of names) {
    const place = places.get(hostOf(name));
    if (place === undefined) watched.fail(name, "timeout", atMs);
    else if (name === (place.isClone ? "pg1" : "pg3")) watched.lead(name, atMs);
    else watched.follow(name, atMs);
  }
  for (const [turn, name] of now.asked.entries()) {
    const place = places.get(hostOf(name));
    if (place === undefined) continue;
    const leader = place.isClone ? "pg1" : "pg3";
    applyMemberList(watched, place.isClone ? cloned(names) : names, atMs + 1 + turn, { of: name, leader });
  }
}

test("every sound node is found at its true address again once the clone is gone", () => {
  const quiet: Round = { hasGuest: false, dead: [], asked: [...names] };
  fc.assert(
    fc.property(
      fc.array(round, { maxLength: 25 }),
      fc.shuffledSubarray([...names], { minLength: 4 }),
      (rounds, order) => {
        const watched = discoveringCluster({ policy: limit });
        applyMemberList(watched, order, 0, { leader: "pg3" });
        play(watched, quiet, 1);
        let atMs = 1;
        const path = [...rounds, ...Array.from({ length: 16 }, () => ({ ...quiet, asked: order }))];
        for (const now of path) play(watched, now, (atMs += 1_000));
        assert.deepEqual(addressesOf(watched), Object.fromEntries(order.map((name) => [name, name])));
        play(watched, quiet, (atMs += 1_000));
        assert.equal(watched.judge("pg3", "primary", atMs + 10), "fit");
        for (const name of ["pg1", "pg2", "pg4"]) assert.equal(watched.judge(name, "replica", atMs + 10), "fit", name);
      },
    ),
    { numRuns: 200 },
  );
});

test("a clone at one node's address, a minority, moves nobody for ever while it stays", () => {
  fc.assert(
    fc.property(
      fc.array(round, { minLength: 5, maxLength: 25 }),
      fc.shuffledSubarray([...names], { minLength: 4 }),
      (rounds, order) => {
        const watched = discoveringCluster({ policy: limit });
        applyMemberList(watched, order, 0, { leader: "pg3" });
        play(watched, { hasGuest: false, dead: [], asked: [...names] }, 1);
        let atMs = 1;
        for (const now of rounds) {
          play(watched, { ...now, hasGuest: true, asked: order }, (atMs += 1_000));
          assert.deepEqual(addressesOf(watched), Object.fromEntries(order.map((name) => [name, name])));
        }
      },
    ),
    { numRuns: 100 },
  );
});
