import assert from "node:assert/strict";
import { test } from "node:test";
import type { AskedNode } from "../../../../src/core/cluster/asked-node.ts";
import { askedOverview } from "../../../../src/core/health/documents/asked-nodes.ts";
import { clusterStateOf } from "../../../fake/cluster-state.ts";

const minute = 60_000;
/** A balancer that has asked for this node twice a second for ten minutes. */
const regular = (node: string): AskedNode => ({ cluster: "demo", node, agoMs: 400, forMs: 10 * minute });
const [one, two, three] = ["pg1", "pg2", "pg3"].map(regular) as [AskedNode, AskedNode, AskedNode];
const whole = (agoMs: number): AskedNode => ({ cluster: "demo", node: null, agoMs, forMs: 0 });
const left = (forMs: number, agoMs = 400): AskedNode => ({ ...regular("pg9"), forMs, agoMs });

interface Row {
  readonly title: string;
  readonly asked: readonly AskedNode[];
  /** How many minutes pg3 has been a member. */
  readonly minutes?: number;
  readonly tags?: object;
  readonly unasked?: readonly string[];
  readonly nonMembers?: readonly string[];
}

const rows: readonly Row[] = [
  { title: "every member is asked for", asked: [one, two, three] },
  { title: "pg3 is never asked for", asked: [one, two], unasked: ["pg3"] },
  { title: "pg3 joined less than five minutes ago", asked: [one, two], minutes: 4.9 },
  { title: "pg3 joined five minutes ago", asked: [one, two], minutes: 5, unasked: ["pg3"] },
  { title: "one of three is asked for", asked: [one], unasked: ["pg2", "pg3"] },
  {
    title: "pg3 was asked for until five minutes ago",
    asked: [one, { ...three, agoMs: 5 * minute }, two],
    unasked: ["pg3"],
  },
  { title: "pg3 was asked for until 1 ms less ago", asked: [one, two, { ...three, agoMs: 5 * minute - 1 }] },
  { title: "nobody asks here: this may be the second instance", asked: [] },
  { title: "balancers have begun to ask", asked: [{ ...one, forMs: 4.9 * minute }] },
  {
    title: "balancers have stopped to ask",
    asked: [
      { ...one, agoMs: minute + 1 },
      { ...two, agoMs: minute + 1 },
    ],
  },
  { title: "the listener names pg1", asked: [{ ...one, forMs: 0 }] },
  { title: "checks of the whole cluster", asked: [whole(400)] },
  { title: "checks of the whole cluster besides", asked: [one, two, whole(4.9 * minute)] },
  { title: "checks of the whole cluster, long ago", asked: [one, two, whole(5 * minute)], unasked: ["pg3"] },
  { title: "other clusters are asked for", asked: [one, two, three].map((row) => ({ ...row, cluster: "shop" })) },
  {
    title: "other clusters have nodes of these names too",
    asked: [one, two, { ...three, cluster: "shop" }, { ...left(10 * minute), cluster: "shop" }],
    unasked: ["pg3"],
  },
  {
    title: "workers have a part each",
    asked: [one, { ...two, agoMs: 50_000, forMs: 1 }, { ...two, agoMs: 100, forMs: 1 }, { ...three, agoMs: 0 }],
  },
  {
    title: "pg3 takes neither reads nor a failover",
    asked: [one, two],
    tags: { noloadbalance: true, nofailover: true },
  },
  { title: "pg3 takes no reads", asked: [one, two], tags: { noloadbalance: true }, unasked: ["pg3"] },
  { title: "pg3 takes no failover", asked: [one, two], tags: { nofailover: true }, unasked: ["pg3"] },
  { title: "Host names pg3 in another case", asked: [one, two, regular("PG3")] },
  { title: "pg9 left", asked: [one, two, three, left(10 * minute)], nonMembers: ["pg9 400"] },
  {
    title: "pg9 left, and checks are of the whole cluster too",
    asked: [whole(1), left(minute)],
    nonMembers: ["pg9 400"],
  },
  { title: "pg9 is asked for once", asked: [one, two, three, left(0)] },
  { title: "pg9 was asked for until a minute ago", asked: [one, two, three, left(10 * minute, minute + 1)] },
  {
    title: "two names that are no members, in both workers",
    asked: [one, two, three, left(minute, 300), left(0, 200), { ...regular("pg8"), agoMs: 50 }],
    nonMembers: ["pg8 50", "pg9 200"],
  },
];

for (const { title, asked, minutes = 10, tags = {}, unasked = [], nonMembers = [] } of rows)
  test(title, () => {
    const cluster = clusterStateOf([
      { name: "pg1", role: "primary" },
      { name: "pg2", role: "replica" },
      { name: "pg3", role: "replica", document: { tags } },
    ]);
    const memberForMs = new Map([
      ["pg1", 10 * minute],
      ["pg2", 10 * minute],
      ["pg3", minutes * minute],
    ]);
    const found = askedOverview({ ...cluster, isMembershipKnown: true }, asked, memberForMs);
    assert.deepEqual(
      [...found.nodes].filter(([, fields]) => fields.unasked).map(([node]) => node),
      unasked,
    );
    assert.deepEqual(
      found.nonMembers.map(({ node, asked_ms_ago: agoMs }) => `${node} ${agoMs}`),
      nonMembers,
    );
  });

test("states how long ago each member was asked for, by any worker; null before the first check", () => {
  const cluster = clusterStateOf([
    { name: "pg1", role: "primary" },
    { name: "pg2", role: "replica" },
  ]);
  const counts: readonly AskedNode[] = [one, { ...one, agoMs: 90 }];
  for (const asked of [counts, counts.toReversed()]) {
    const { nodes } = askedOverview(cluster, asked, new Map());
    assert.deepEqual(
      [...nodes].map(([node, { asked_ms_ago: agoMs }]) => [node, agoMs]),
      [
        ["pg1", 90],
        ["pg2", null],
      ],
    );
  }
});

test("names are no strangers before the members are known", () => {
  const cluster = { ...clusterStateOf([{ name: "pg1", role: "primary" }]), isMembershipKnown: false };
  assert.deepEqual(askedOverview(cluster, [left(10 * minute)], new Map()).nonMembers, []);
});
