/** What reports show of a running primary beside the one that leads (rule 2, `stray_primary`). pg1 leads, pg2 is it. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { LeaderDecision } from "../../../../../src/core/cluster/leadership.ts";
import { nodeNamed } from "../../../../../src/core/cluster/lookup.ts";
import type { Observation, StrayPrimary } from "../../../../../src/core/cluster/observation.ts";
import type { ClusterState } from "../../../../../src/core/cluster/snapshot.ts";
import { viewAt } from "../../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { lockStatusAt } from "../../../../../src/core/health/evidence/leadership/lock-status.ts";
import { strayAfter, strayOf } from "../../../../../src/core/health/evidence/leadership/stray-primary.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import type { StatusFields } from "../../../../fake/node-documents.ts";

/** A report of pg2 that was requested at 10 s. pg1 has led since the start. */
interface Row {
  readonly given: string;
  readonly fields?: StatusFields;
  readonly hasLock?: boolean;
  readonly pg2?: Partial<Observation>;
  readonly known?: StrayPrimary;
  /** Changes what was decided before the report. */
  readonly change?: (cluster: ClusterState) => ClusterState;
  /** Who holds the lock once the report is recorded. Default: pg1. */
  readonly holder?: string | null;
  readonly stray: StrayPrimary | null;
}

const seen = (sinceMs: number, isConfirmed = false, beside = "pg1"): StrayPrimary => ({ beside, sinceMs, isConfirmed });
const first = seen(10_000);

const decided =
  (decision: Partial<ClusterState["leadership"]>) =>
  (cluster: ClusterState): ClusterState => ({ ...cluster, leadership: { ...cluster.leadership, ...decision } });

const heldByPg3 = { kind: "held", holder: "pg3", by: "sole", witnesses: [] } as const satisfies LeaderDecision;

function withoutApi(cluster: ClusterState): ClusterState {
  const nodes = cluster.nodes.map((one) =>
    one.node.name === "pg1" ? { ...one, node: { ...one.node, api: null } } : one,
  );
  return { ...cluster, nodes };
}

const rows: readonly Row[] = [
  { given: "a running primary without the lock", stray: first },

  // Its report denies it.
  { given: "a replica", fields: { role: "replica" }, known: seen(9_000), stray: null },
  { given: "a primary with the lock", hasLock: true, known: seen(9_000), stray: null },
  { given: "a node without an API", pg2: { node: noApi() }, known: seen(9_000), stray: null },

  // Its report shows nothing new.
  ...(
    [
      ["a primary that stops", { fields: { state: "stopping" } }],
      ["a primary without a position", { fields: { xlog: null } }],
      ["beside which nobody leads", { change: decided({ decision: { kind: "unclaimed", lastHolder: "pg1" } }) }],
      ["while another node has just taken over", { holder: "pg3" }],
      ["while the leader has just lost the lock", { holder: null }],
      ["beside one that was another's lock before", { change: decided({ decision: heldByPg3 }) }],
      ["beside one that was accepted when it was requested", { change: decided({ heldSinceMs: 10_000 }) }],
      ["beside one that was accepted later", { change: decided({ heldSinceMs: 10_001 }) }],
      ["beside one that nothing has accepted", { change: decided({ heldSinceMs: null }) }],
      ["beside one that is known by its exporter alone", { change: withoutApi }],
      ["of another database system", { fields: { database_system_identifier: "8" } }],
      ["of another node", { fields: { patroni: { version: "4.1.4", scope: "demo", name: "pg9" } } }],
    ] as const satisfies readonly (readonly [string, Omit<Row, "given" | "stray">])[]
  ).flatMap(([given, row]): Row[] => [
    { given, ...row, stray: null },
    { given: `${given}, where an earlier report showed it`, ...row, known: seen(8_000), stray: seen(8_000) },
  ]),
  {
    given: "beside one that was accepted just before",
    change: decided({ heldSinceMs: 9_999 }),
    stray: first,
  },

  // It goes on.
  { given: "for 999 ms", known: seen(9_001), stray: seen(9_001) },
  { given: "for a second", known: seen(9_000), stray: seen(9_000, true) },
  { given: "that is confirmed", known: seen(9_000, true), stray: seen(9_000, true) },
  {
    given: "that was confirmed beside another leader",
    known: seen(9_500, true, "pg3"),
    stray: seen(9_500, true),
  },
];

function noApi(): Observation["node"] {
  const pg2 = nodeNamed(new ClusterFixture().cluster, "pg2");
  assert.ok(pg2 !== undefined);
  return { ...pg2.node, api: null };
}

function after(fields: StatusFields, hasLock = false): readonly [ClusterFixture, ClusterState, Observation] {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0);
  watched.follow("pg2", 0);
  watched.lead("pg1", 9_900);
  const { cluster } = watched;
  watched.answer("pg2", { hasLock, fields: { role: "primary", ...fields } }, 10_000);
  const observation = nodeNamed(watched.cluster, "pg2");
  assert.ok(observation !== undefined);
  return [watched, cluster, observation];
}

suite("a report beside the node that leads", () => {
  for (const { given, fields = {}, hasLock = false, pg2 = {}, known, change, holder = "pg1", stray } of rows)
    test(`of ${given}: ${stray === null ? "nothing" : JSON.stringify(stray)}`, () => {
      const [{ policy }, cluster, observation] = after(fields, hasLock);
      const pair = { before: { ...observation, stray: known ?? null }, after: { ...observation, hasLock, ...pg2 } };
      const lock = { ...lockStatusAt(cluster, policy, 10_000), holder };
      const found = strayAfter(change?.(cluster) ?? cluster, pair, { lock, policy });
      assert.deepEqual(found, stray);
      if (known !== undefined && stray !== null && known.isConfirmed === stray.isConfirmed && known.beside === "pg1")
        assert.equal(found, known, "the same object");
    });
});

suite("a node is a stray primary", () => {
  const stray = seen(5_000, true);
  const is = (fields: StatusFields, known: StrayPrimary | null = stray, exclusivePrimary = true): boolean => {
    const [{ cluster, policy }, , observation] = after(fields);
    const view = viewAt(cluster, { ...policy, guards: { ...policy.guards, exclusivePrimary } }, 10_000);
    return strayOf(view, { ...observation, stray: known }) !== null;
  };

  test("while its last report shows a running primary with a position", () => {
    assert.equal(is({}), true);
    assert.equal(is({ state: "stopping" }), false);
    assert.equal(is({ role: "replica" }), false);
    assert.equal(is({ role: "standby_leader", xlog: { location: 1_000 } }), false);
    assert.equal(is({ xlog: null }), false);
  });

  test("while the node beside which it is so leads, with the guard `exclusive_primary`", () => {
    assert.equal(is({}, null), false);
    assert.equal(is({}, seen(5_000, true, "pg3")), false);
    assert.equal(is({}, stray, false), false);
  });
});
