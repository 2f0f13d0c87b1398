import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { LeaderDecision } from "../../../../../src/core/cluster/leadership.ts";
import {
  isDisputed,
  lockStatusAt,
  type LockStatus,
} from "../../../../../src/core/health/evidence/leadership/lock-status.ts";
import { ClusterFixture, type FixtureOptions } from "../../../../fake/cluster-fixture.ts";
import { primaryPage, replicaPage } from "../../../../fake/exporter-page.ts";

type Do = (watched: ClusterFixture) => void;

const leads =
  (node: string, atMs: number, timeline = 1): Do =>
  (watched) =>
    watched.lead(node, atMs, { timeline });
const follows =
  (node: string, atMs: number): Do =>
  (watched) =>
    watched.follow(node, atMs);
const names =
  (witness: string, leader: string | null, atMs: number): Do =>
  (watched) =>
    watched.nameLeader(leader, witness, atMs);
const fails =
  (node: string, atMs: number): Do =>
  (watched) =>
    watched.fail(node, "timeout", atMs);
const noView =
  (node: string, atMs: number): Do =>
  (watched) =>
    watched.failView(node, atMs);

/** Plays steps on three nodes, pg3 of which follows. */
function played(steps: readonly Do[], more: FixtureOptions = {}): ClusterFixture {
  const watched = new ClusterFixture({ ...more, policy: { intervalMs: 1_000, viewMaxAgeMs: 11_500 } });
  for (const step of [follows("pg3", 0), ...steps]) step(watched);
  return watched;
}

const both = [leads("pg1", 0), leads("pg2", 1_000)];
/** Both claims are lost to their own views, which name a node that is silent. */
const bothLost = [
  ...both,
  fails("pg3", 1_500),
  names("pg1", "pg3", 2_000),
  names("pg2", "pg3", 2_000),
  leads("pg1", 2_100),
];

/** What was decided, and steps after which it is still so. */
const decisions: readonly {
  readonly given: string;
  readonly steps: readonly Do[];
  readonly is: LeaderDecision;
  readonly again: Do;
}[] = [
  {
    given: "nobody claims the lock",
    steps: [leads("pg1", 0), follows("pg1", 1_000)],
    is: { kind: "unclaimed", lastHolder: "pg1" },
    again: follows("pg1", 2_000),
  },
  {
    given: "one node claims it",
    steps: [leads("pg1", 0)],
    is: { kind: "held", holder: "pg1", by: "sole", witnesses: [] },
    again: leads("pg1", 2_000),
  },
  {
    given: "a view decides between two",
    steps: [...both, names("pg3", "pg2", 2_000)],
    is: { kind: "held", holder: "pg2", by: "views", witnesses: ["pg3"] },
    again: leads("pg2", 2_500),
  },
  {
    given: "nothing decides between two that appeared together",
    steps: [leads("pg1", 0), leads("pg2", 0)],
    is: { kind: "contested", between: ["pg1", "pg2"] },
    again: leads("pg2", 400),
  },
  {
    given: "both are lost",
    steps: bothLost,
    is: { kind: "lost" },
    again: leads("pg2", 2_500),
  },
];

suite("a decision", () => {
  for (const { given, steps, is, again } of decisions)
    test(`stays the same object while nothing changes: ${given}`, () => {
      const watched = played(steps);
      const { decision } = watched.cluster.leadership;
      assert.deepEqual(decision, is);
      again(watched);
      assert.equal(watched.cluster.leadership.decision, decision);
    });

  test("changes with the node that the same witness names", () => {
    const watched = played([...both, names("pg3", "pg2", 2_000), names("pg3", "pg1", 3_000)]);
    const is: LeaderDecision = { kind: "held", holder: "pg1", by: "views", witnesses: ["pg3"] };
    assert.deepEqual(watched.cluster.leadership.decision, is);
  });

  test("changes with the witnesses", () => {
    const nodes = ["pg1", "pg2", "pg3", "pg4"];
    const steps = [follows("pg4", 0), ...both, noView("pg4", 1_500), names("pg3", "pg2", 2_000)];
    const watched = played([...steps, names("pg4", "pg2", 3_000)], { nodes });
    const is: LeaderDecision = { kind: "held", holder: "pg2", by: "views", witnesses: ["pg3", "pg4"] };
    assert.deepEqual(watched.cluster.leadership.decision, is);
  });

  test("changes with the nodes between which nothing decides", () => {
    const nodes = ["pg1", "pg2", "pg3", "pg4"];
    const watched = played([follows("pg4", 0), leads("pg1", 0), leads("pg2", 0), leads("pg4", 0)], { nodes });
    const is: LeaderDecision = { kind: "contested", between: ["pg1", "pg2", "pg4"] };
    assert.deepEqual(watched.cluster.leadership.decision, is);
  });

  test("is that of a sole claim again once the other one ended", () => {
    const watched = played([...both, names("pg3", "pg2", 2_000), follows("pg1", 3_000), leads("pg2", 3_000)]);
    const is: LeaderDecision = { kind: "held", holder: "pg2", by: "sole", witnesses: [] };
    assert.deepEqual(watched.cluster.leadership.decision, is);
  });
});

suite("the claims that are lost", () => {
  const lost = (watched: ClusterFixture): object =>
    Object.fromEntries(
      [...watched.cluster.leadership.lostClaims].map(([node, { viewSentAtMs }]) => [node, viewSentAtMs]),
    );

  test("stay the same object while nothing changes", () => {
    const watched = played(bothLost);
    const { lostClaims } = watched.cluster.leadership;
    leads("pg2", 2_500)(watched);
    assert.equal(watched.cluster.leadership.lostClaims, lostClaims);
    assert.deepEqual(lost(watched), { pg1: 2_000, pg2: 2_000 });
  });

  test("change with one of them", () => {
    assert.deepEqual(lost(played([...bothLost, names("pg1", "pg3", 3_000)])), { pg1: 3_000, pg2: 2_000 });
    assert.deepEqual(lost(played([...bothLost, follows("pg1", 3_000)])), { pg2: 2_000 });
    assert.deepEqual(lost(played([...bothLost, follows("pg1", 3_000), follows("pg2", 3_000)])), {});
  });
});

suite("a dispute", () => {
  const rows: readonly (readonly [given: string, steps: readonly Do[], isDisputed: boolean, isContested: boolean])[] = [
    ["no claim", [], false, false],
    ["one claim", [leads("pg1", 0)], false, false],
    ["two claims, one of which stands", both, true, false],
    ["two claims, neither of which stood for long", [leads("pg1", 0), leads("pg2", 0)], true, true],
    ["one claim that is lost", [leads("pg1", 0), fails("pg3", 1_500), names("pg1", "pg3", 2_000)], true, false],
    ["two claims that are lost", bothLost, true, false],
  ];
  for (const [given, steps, isExpected, isContested] of rows)
    test(given, () => {
      const { cluster, policy } = played([...steps, noView("pg1", 2_200)]);
      assert.equal(isDisputed(cluster, policy, 2_500), isExpected);
      assert.equal(lockStatusAt(cluster, policy, 2_500).isContested, isContested);
    });
});

suite("a lock status is valid", () => {
  const plain = ["pg1", "pg2", "pg3", "pg4"].map((name) => ({ name, api: null, exporter: `http://${name}:9630` }));
  const shows = (watched: ClusterFixture, node: string, role: "primary" | "replica", atMs: number): void => {
    const sent = { kind: "exporter", cluster: "demo", node, sentAtMs: atMs, sentAtWallMs: atMs } as const;
    const page = { ...(role === "primary" ? primaryPage : replicaPage), databaseTimeS: atMs / 1_000 };
    watched.record({ ...sent, result: { endpoint: "up", role } }, atMs);
    watched.record({ ...sent, result: { endpoint: "metrics", page } }, atMs);
  };
  const statusOf = (nodes: FixtureOptions["nodes"], steps: Do): LockStatus => {
    const watched = new ClusterFixture({ ...(nodes === undefined ? {} : { nodes }), policy: { pageMaxAgeMs: 20_000 } });
    steps(watched);
    return lockStatusAt(watched.cluster, watched.policy, 4_000);
  };
  /** Each role in turn, from an instant on, with a page that proves the database alive. */
  const proven = (watched: ClusterFixture, node: string, role: "primary" | "replica", atMs: number): void => {
    shows(watched, node, role, atMs - 1_000);
    shows(watched, node, role, atMs);
  };

  test("without claims until something is recorded", () => {
    assert.equal(statusOf(undefined, follows("pg1", 0)).validUntilMs, Infinity);
  });

  test("until the oldest claim is too old, whatever the age of the others' reports", () => {
    const status = statusOf(undefined, (watched) => {
      follows("pg3", 0)(watched);
      leads("pg2", 2_000)(watched);
      leads("pg1", 3_000)(watched);
    });
    assert.equal(status.validUntilMs, 7_500);
  });

  test("for one claim without an API until that claim is too old", () => {
    const status = statusOf(plain, (watched) => {
      proven(watched, "pg3", "replica", 1_000);
      proven(watched, "pg1", "primary", 4_000);
    });
    assert.equal(status.validUntilMs, 9_500);
  });

  test("for several until a standby that decides between them is too old", () => {
    const status = statusOf(plain, (watched) => {
      proven(watched, "pg3", "replica", 1_000);
      proven(watched, "pg4", "replica", 3_000);
      proven(watched, "pg1", "primary", 4_000);
      proven(watched, "pg2", "primary", 4_000);
    });
    assert.equal(status.validUntilMs, 6_500);
  });

  test("for a claim on the lock beside one without an API until either is too old", () => {
    const status = statusOf(["pg2", ...plain.filter(({ name }) => name !== "pg2")], (watched) => {
      proven(watched, "pg3", "replica", 1_000);
      proven(watched, "pg1", "primary", 4_000);
      leads("pg2", 3_000)(watched);
    });
    assert.equal(status.validUntilMs, 8_500);
  });
});
