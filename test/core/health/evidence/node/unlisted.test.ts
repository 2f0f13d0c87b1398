/** Which discovered members are down and left out of all lists (rule 10). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isUnlisted } from "../../../../../src/core/health/evidence/node/unlisted.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

interface Row {
  readonly given: string;
  /** What differs of pg2: it is down, discovered, and was last listed at the instant 1000. */
  readonly pg2?: { readonly isDown?: boolean; readonly isFixed?: boolean; readonly listedAtMs?: number };
  /** When the two other nodes were last listed. */
  readonly others: readonly [number, number];
  readonly discovers?: boolean;
  readonly isMembershipKnown?: boolean;
  readonly isUnlisted: boolean;
}

const newer = [2_000, 2_000] as const;

const table: readonly Row[] = [
  { given: "a list that is newer than its last one has the others", others: newer, isUnlisted: true },
  { given: "a newer list has one of the others", others: [0, 2_000], isUnlisted: true },
  { given: "the newest list has it too", others: [1_000, 1_000], isUnlisted: false },
  { given: "the newest list has it alone", others: [0, 0], isUnlisted: false },
  { given: "no list ever had it", pg2: { listedAtMs: -Infinity }, others: newer, isUnlisted: true },
  { given: "there was no list yet", pg2: { listedAtMs: -Infinity }, others: [-Infinity, -Infinity], isUnlisted: false },
  { given: "it answers", pg2: { isDown: false }, others: newer, isUnlisted: false },
  { given: "it is configured", pg2: { isFixed: true }, others: newer, isUnlisted: false },
  { given: "it answers, and is configured", pg2: { isDown: false, isFixed: true }, others: newer, isUnlisted: false },
  { given: "all nodes are configured", discovers: false, others: newer, isUnlisted: false },
  { given: "the lists may lack it", isMembershipKnown: false, others: newer, isUnlisted: false },
];

for (const { given, pg2 = {}, others, discovers = true, isMembershipKnown = true, isUnlisted: expected } of table)
  test(`${expected ? "unlisted" : "not unlisted"}: ${given}`, () => {
    const { isDown = true, isFixed = false, listedAtMs = 1_000 } = pg2;
    const { cluster, policy } = new ClusterFixture();
    const nodes = cluster.nodes.map((known, at) => {
      const isPg2 = known.node.name === "pg2";
      const node = { ...known.node, isFixed: isPg2 && isFixed };
      return { ...known, node, isDown: isPg2 && isDown, listedAtMs: isPg2 ? listedAtMs : others[at === 0 ? 0 : 1] };
    });
    const observation = nodes.find(({ node }) => node.name === "pg2");
    assert.ok(observation !== undefined);
    const view = { cluster: { ...cluster, nodes, isMembershipKnown }, policy: { ...policy, discovers } };
    assert.equal(isUnlisted(view, observation), expected);
  });
