/** What the page of a standby says about the leader's position where exporters are the only source (rule 4). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ExporterPage } from "../../../../../src/core/cluster/exporter/exporter-report.ts";
import type { Attachment } from "../../../../../src/core/cluster/attachment.ts";
import { nodeNamed } from "../../../../../src/core/cluster/lookup.ts";
import { raisedByStandby } from "../../../../../src/core/health/evidence/position/exporter-position.ts";
import type { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { played, type Step } from "../../../../fake/scenario.ts";

const nodes = ["pg1", "pg2", "pg3"].map((name) => ({
  name,
  api: null,
  exporter: `http://${name}:9630`,
  database: { host: name, port: 5432 },
}));

/** What the leader's page, of 1 s, says beside its position; and what happens after it, at 1.5 s or later. */
interface Scene {
  readonly leader?: Partial<ExporterPage>;
  readonly standby?: Partial<ExporterPage>;
  readonly role?: "replica" | "primary";
  readonly steps?: readonly Step[];
  /** The leader's API, if it has one: then it is the lock holder whatever its page says. */
  readonly api?: string;
  /** When the standby's page with more WAL comes, in seconds. */
  readonly atS?: number;
}

/** The leader pg1 states 5000. Later a page of the standby pg3 says that it received 9000. */
function sceneOf({ leader = {}, standby = {}, role = "replica", steps = [], atS = 2, api }: Scene): ClusterFixture {
  const replica = { isInRecovery: true, received: 5_000, replayed: 5_000 };
  return played({
    nodes: nodes.map((node) => (api !== undefined && node.name === "pg1" ? { ...node, api } : node)),
    policy: { maxAgeMs: 60_000, pageMaxAgeMs: 10_000 },
    steps: [
      { at: 0, shows: "pg1", role: "primary", page: { ...leader } },
      { at: 0, shows: "pg3", role: "replica", page: { ...replica, system: standby.system ?? null } },
      { at: 1, shows: "pg1", role: "primary", page: { ...leader } },
      ...steps,
      { at: atS, shows: "pg3", role, page: { ...replica, received: 9_000, replayed: 9_000, ...standby } },
    ],
  });
}

const lists = (name: string, isStreaming = true): Pick<ExporterPage, "senders" | "streaming"> => ({
  senders: [{ name, address: null, isStreaming, replayed: null }],
  streaming: 1,
});
const shows = (at: number, name: string, page: Partial<ExporterPage>): Step => ({
  at,
  shows: name,
  role: "replica",
  page: { isInRecovery: true, received: 5_000, replayed: 5_000, ...page },
});
const leaderAgain: Step = { at: 9, shows: "pg1", role: "primary", page: lists("pg2") };
const leadsByApi = (at: number): Step => ({ at, leads: "pg1", with: { xlog: { location: 5_000 } } });
const receiver = (isStreaming: boolean): Partial<ExporterPage> => ({
  receiver: { host: "pg1", port: 5432, isStreaming },
});

const rows: readonly (readonly [given: string, scene: Scene, isRaised: boolean])[] = [
  ["its receiver streams", { standby: receiver(true) }, true],
  [
    "its receiver does not stream, whatever the leader lists",
    { standby: receiver(false), leader: lists("pg3") },
    false,
  ],
  ["it shows no receiver, and the leader lists it", { leader: lists("pg3") }, true],
  ["it shows no receiver, and the leader lists another node", { leader: lists("pg2") }, false],
  [
    "it shows no receiver, and the leader lists it beside another node",
    { leader: { senders: [...lists("pg2").senders, ...lists("pg3").senders], streaming: 2 } },
    true,
  ],
  ["it shows no receiver, and the leader lists nobody", { leader: { senders: [], streaming: 0 } }, false],
  ["it shows no receiver, and the leader lists it in another state", { leader: lists("pg3", false) }, false],
  ["it shows no receiver, and the leader's page lists no standbys at all", { leader: { streaming: null } }, true],
  ["another standby lists it", { leader: lists("pg2"), steps: [shows(1.5, "pg2", lists("pg3"))] }, true],
  [
    "another standby lists it, by a page that is too old",
    {
      leader: lists("pg2"),
      steps: [shows(1.5, "pg2", lists("pg3")), leaderAgain, shows(9, "pg3", {})],
      atS: 11.5,
    },
    false,
  ],
  [
    "another standby lists it, by a page that is just young enough",
    {
      leader: lists("pg2"),
      steps: [shows(1.5, "pg2", lists("pg3")), leaderAgain, shows(9, "pg3", {})],
      atS: 11.499,
    },
    true,
  ],
  ["it lists itself", { leader: lists("pg2"), standby: lists("pg3") }, false],
  ["nobody leads any more", { leader: lists("pg2"), steps: [{ at: 1.5, shows: "pg1", role: "down" }] }, true],
  ["the leader's list is just young enough", { leader: lists("pg2"), atS: 10.999 }, false],
  ["the leader's list is too old", { leader: lists("pg2"), atS: 11 }, true],
  [
    "the list of a leader with an API is just young enough",
    { leader: lists("pg2"), api: "http://pg1:8008", steps: [leadsByApi(0), leadsByApi(10)], atS: 10.999 },
    false,
  ],
  [
    "the list of a leader with an API is too old",
    { leader: lists("pg2"), api: "http://pg1:8008", steps: [leadsByApi(0), leadsByApi(10)], atS: 11 },
    true,
  ],
  ["it is of another system", { standby: { ...receiver(true), system: "7" } }, false],
  ["its system is unknown", { standby: { ...receiver(true), system: null } }, true],
  ["the leader's system is unknown", { leader: { system: null }, standby: receiver(true) }, true],
  ["`/up` calls it a primary", { standby: receiver(true), role: "primary" }, false],
  [
    "its database's clock stands still",
    { standby: { ...receiver(true), databaseTimeS: 0 }, steps: [shows(1.5, "pg3", { databaseTimeS: 0 })] },
    false,
  ],
];

suite("a standby that received more than the leader's position", () => {
  for (const [given, scene, isRaised] of rows)
    test(`${isRaised ? "raises it" : "does not raise it"}: ${given}`, () => {
      assert.equal(sceneOf(scene).cluster.position?.highest, isRaised ? 9_000 : 5_000);
    });

  const accusations: readonly (readonly [string, Partial<Attachment>])[] = [
    ["nothing", {}],
    ["detached", { isDetached: true }],
    ["stalled", { isStalled: true }],
    ["diverged", { isOffTimeline: true }],
  ];
  for (const [accusedOf, marks] of accusations)
    test(`if it is accused: ${accusedOf}`, () => {
      const watched = sceneOf({ standby: receiver(true) });
      const { policy } = watched;
      const standby = nodeNamed(watched.cluster, "pg3");
      const { position } = watched.cluster;
      assert.ok(standby !== undefined && position !== null);
      const before = { ...watched.cluster, position: { ...position, highest: 5_000 } };
      const accused = { ...standby, attachment: { ...standby.attachment, ...marks } };
      const raised = raisedByStandby(before, accused, { policy, nowMs: 2_000 });
      assert.equal(raised?.highest, accusedOf === "nothing" ? 9_000 : 5_000);
    });

  test("not more: the position stays the same object", () => {
    const watched = sceneOf({ standby: { ...receiver(true), received: 5_000, replayed: 5_000 } });
    const standby = nodeNamed(watched.cluster, "pg3");
    assert.ok(standby !== undefined);
    const { cluster, policy } = watched;
    assert.equal(raisedByStandby(cluster, standby, { policy, nowMs: 2_000 }), cluster.position);
  });
});

test("the leader's position counts while its newest page is young, also if that states the same one again", () => {
  const pageAt = (...instants: readonly number[]): number | undefined => {
    const steps = instants.map((at): Step => ({ at, shows: "pg1", role: "primary", page: {} }));
    return played({ nodes, policy: { pageMaxAgeMs: 10_000 }, steps }).cluster.position?.pageUntilMs;
  };
  assert.deepEqual([pageAt(0, 1), pageAt(0, 1, 2)], [11_000, 12_000]);
});
