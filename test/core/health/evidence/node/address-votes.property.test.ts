import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { discoveringCluster, applyMemberList } from "../../../../fake/member-lists.ts";
import type { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { clonedList, hostsOf, names, viewSettings } from "./cloned-cluster.ts";

/** The server that answers at an address. */
interface Server {
  readonly name: string;
  readonly isClone: boolean;
}

/**
 * One round of probes and member lists: with `isCloned` a clone answers at pg1's address. `dead` nodes do not answer.
 */
interface Round {
  readonly isCloned: boolean;
  readonly dead: readonly string[];
  readonly listing: readonly string[];
}

const round: fc.Arbitrary<Round> = fc.record({
  isCloned: fc.boolean(),
  dead: fc.subarray(["pg2", "pg3", "pg4"], { maxLength: 1 }),
  listing: fc.shuffledSubarray([...names], { minLength: 1 }),
});

/** The server that really answers at each host in a round. */
function serversOf({ isCloned, dead }: Round): ReadonlyMap<string, Server> {
  const own = names
    .filter((name) => !dead.includes(name))
    .map((name): [string, Server] => [name, { name, isClone: false }]);
  const clones = names.map((name): [string, Server] => [`clone-${name}`, { name, isClone: true }]);
  return new Map([...own, ...clones, ["pg1", { name: "pg1", isClone: isCloned }]]);
}

function play(watched: ClusterFixture, now: Round, atMs: number): void {
  const servers = serversOf(now);
  const hostOf = (name: string): string => hostsOf(watched)[name] ?? "";
  for (const name of names) {
    const server = servers.get(hostOf(name));
    if (server === undefined) watched.fail(name, "timeout", atMs);
    else if (name === (server.isClone ? "pg1" : "pg3")) watched.lead(name, atMs);
    else watched.follow(name, atMs);
  }
  for (const [turn, name] of now.listing.entries()) {
    const server = servers.get(hostOf(name));
    if (server === undefined) continue;
    const leader = server.isClone ? "pg1" : "pg3";
    applyMemberList(watched, server.isClone ? clonedList(names) : names, atMs + 1 + turn, { of: name, leader });
  }
}

test("every node returns to its true address once the clone is gone", () => {
  const quiet: Round = { isCloned: false, dead: [], listing: [...names] };
  fc.assert(
    fc.property(
      fc.array(round, { maxLength: 25 }),
      fc.shuffledSubarray([...names], { minLength: 4 }),
      (rounds, order) => {
        const watched = discoveringCluster({ policy: viewSettings });
        applyMemberList(watched, order, 0, { leader: "pg3" });
        play(watched, quiet, 1);
        let atMs = 1;
        const path = [...rounds, ...Array.from({ length: 16 }, () => ({ ...quiet, listing: order }))];
        for (const now of path) play(watched, now, (atMs += 1_000));
        assert.deepEqual(hostsOf(watched), Object.fromEntries(order.map((name) => [name, name])));
        play(watched, quiet, (atMs += 1_000));
        assert.equal(watched.judge("pg3", "primary", atMs + 10), "fit");
        for (const name of ["pg1", "pg2", "pg4"]) assert.equal(watched.judge(name, "replica", atMs + 10), "fit", name);
      },
    ),
    { numRuns: 200 },
  );
});

test("a clone at one node's address never moves a node while two others answer", () => {
  fc.assert(
    fc.property(
      fc.array(round, { minLength: 5, maxLength: 25 }),
      fc.shuffledSubarray([...names], { minLength: 4 }),
      (rounds, order) => {
        const watched = discoveringCluster({ policy: viewSettings });
        applyMemberList(watched, order, 0, { leader: "pg3" });
        play(watched, { isCloned: false, dead: [], listing: [...names] }, 1);
        let atMs = 1;
        for (const now of rounds) {
          play(watched, { ...now, isCloned: true, listing: order }, (atMs += 1_000));
          assert.deepEqual(hostsOf(watched), Object.fromEntries(order.map((name) => [name, name])));
        }
      },
    ),
    { numRuns: 100 },
  );
});
