import assert from "node:assert/strict";
import { test } from "node:test";
import { applyMemberList, discoveringCluster, failUntilDown, seedUrl } from "../../fake/member-lists.ts";
import { hostsOf, viewSettings } from "./cloned-cluster.ts";

/** A list: its source, when it was requested, where it has pg2, and the leader that it names. */
type List = readonly [of: string, atMs: number, at: "pg2" | "new" | "omitted", leader: string | null];

/** pg1 leads, and pg3 and pg4 follow; pg2 answers or failed. The lists arrive in this order. */
const rows: readonly {
  readonly title: string;
  readonly failed?: boolean;
  /** pg3 reports another database system. */
  readonly foreign?: boolean;
  /** pg3 never answered. */
  readonly unheard?: boolean;
  readonly lists: readonly List[];
  readonly moves: boolean;
}[] = [
  {
    title: "an answering node without a list of its own has a vote for its present address",
    lists: [
      ["pg4", 4_000, "pg2", "pg1"],
      ["pg3", 4_000, "new", "pg1"],
      ["pg1", 4_000, "new", "pg1"],
    ],
    moves: false,
  },
  {
    title: "two votes move an answering node against its own",
    lists: [
      ["pg3", 4_000, "new", "pg1"],
      ["pg1", 4_000, "new", "pg1"],
    ],
    moves: true,
  },
  {
    title: "a list of a seed is no vote against a node that answers",
    lists: [
      ["pg3", 4_000, "new", "pg1"],
      [seedUrl, 4_000, "new", "pg1"],
    ],
    moves: false,
  },
  {
    title: "a list of a seed that does not name the holder is no vote against a failed node either",
    failed: true,
    lists: [
      ["pg1", 4_000, "pg2", "pg1"],
      ["pg3", 4_000, "new", "pg1"],
      [seedUrl, 4_000, "new", "pg3"],
    ],
    moves: false,
  },
  {
    title: "a list of a seed that names the holder is a vote against a failed node",
    failed: true,
    lists: [
      ["pg1", 4_000, "pg2", "pg1"],
      ["pg3", 4_000, "new", "pg1"],
      [seedUrl, 4_000, "new", "pg1"],
    ],
    moves: true,
  },
  {
    title: "a list that arrives after a newer one of the same node is no vote",
    failed: true,
    lists: [
      ["pg1", 4_000, "pg2", "pg1"],
      ["pg1", 3_999, "new", "pg1"],
    ],
    moves: false,
  },
  {
    title: "nor is it if the newer one omits the node",
    failed: true,
    lists: [
      ["pg1", 4_000, "omitted", "pg1"],
      ["pg1", 3_999, "new", "pg1"],
    ],
    moves: false,
  },
  {
    title: "of two lists that a node gave to requests of one instant the later answer counts",
    failed: true,
    lists: [
      ["pg1", 4_000, "pg2", "pg1"],
      ["pg1", 4_000, "new", "pg1"],
    ],
    moves: true,
  },
  {
    title: "a node of another database system has no vote",
    failed: true,
    foreign: true,
    lists: [
      ["pg3", 4_000, "pg2", "pg1"],
      ["pg1", 4_000, "new", "pg1"],
    ],
    moves: true,
  },
  {
    title: "a node that never answered has no vote, although it gives a list",
    failed: true,
    unheard: true,
    lists: [
      ["pg3", 4_000, "pg2", "pg1"],
      ["pg1", 4_000, "new", "pg1"],
    ],
    moves: true,
  },
];

for (const { title, failed = false, foreign = false, unheard = false, lists, moves } of rows)
  test(title, () => {
    const watched = discoveringCluster({ policy: viewSettings });
    applyMemberList(watched, ["pg1", "pg2", "pg3", "pg4"], 0);
    watched.lead("pg1", 3_000);
    watched.follow("pg2", 0);
    if (!unheard) watched.follow("pg3", 3_000, foreign ? { database_system_identifier: "7000000000000000002" } : {});
    watched.follow("pg4", 3_000);
    if (failed) failUntilDown(watched, "pg2", 3_000);
    for (const [of, atMs, at, leader] of lists) {
      const known = at === "omitted" ? [] : [at === "pg2" ? at : `pg2 ${at}`];
      applyMemberList(watched, ["pg1", ...known, "pg3", "pg4"], atMs, { of, leader });
    }
    assert.equal(hostsOf(watched)["pg2"], moves ? "new" : "pg2");
  });
