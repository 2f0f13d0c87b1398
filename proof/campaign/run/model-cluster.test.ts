import assert from "node:assert/strict";
import { test } from "node:test";
import { Chance } from "../chance.ts";
import { profiles } from "../profile.ts";
import { Stalls } from "../rolecall/stalls.ts";
import { ModelCluster } from "./model-cluster.ts";

class Cluster extends ModelCluster {
  /** rolecall asks a clone of a node, at the clone's own address: who it is, or all else in the node's place. */
  askClone(node: string, arrivedMs: number, inItsPlace = true): void {
    const answer = { doneMs: arrivedMs, isBroken: false, status: 200, document: {}, isGenuine: true };
    this.aside.note({ node, kind: "status", path: "/leader", arrivedMs, ...answer });
    if (inItsPlace) this.aside.note({ node, kind: "other", path: "/liveness", arrivedMs, ...answer });
  }
}

test("a move that rolecall makes between two steps of the model counts for the answers after it", () => {
  const shape = {
    index: 0,
    size: 3,
    generation: 4,
    isDiscovered: true,
    walRate: 200_000,
    mode: "plain",
    surviveMs: 0,
  } as const;
  const cluster = new Cluster(shape, profiles.default, {
    chance: new Chance(1),
    now: () => 0,
    stalls: new Stalls(() => 0),
    armed: new Map(),
    epochMs: 0,
    hasClone: true,
  });
  cluster.advance(1_000);
  cluster.askClone("pg1", 1_040, false);
  cluster.askClone("pg2", 1_040);
  assert.ok(cluster.troubles.isFree("pg2", 1_000, "moved"));
  cluster.noteMoves(1_041);
  assert.ok(!cluster.troubles.isFree("pg2", 1_000, "moved"));
  assert.ok(cluster.troubles.isFree("pg1", 1_000, "moved"));
});
