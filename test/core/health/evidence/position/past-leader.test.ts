/** Which replica had replayed more than its leader stated later (rule 6 (c)). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Attachment } from "../../../../../src/core/cluster/attachment.ts";
import { nodeNamed } from "../../../../../src/core/cluster/lookup.ts";
import type { Observation } from "../../../../../src/core/cluster/observation.ts";
import type { LeaderStatement } from "../../../../../src/core/cluster/snapshot.ts";
import { isPastLeader } from "../../../../../src/core/health/evidence/position/past-leader.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { reportOf, type StatusFields } from "../../../../fake/node-documents.ts";

interface Row {
  readonly given: string;
  /** What pg1 stated in the report of 2 s. Default: 9000 as the primary on timeline 1. */
  readonly leader?: { readonly says?: StatusFields; readonly api?: null; readonly report?: null };
  readonly stated?: Partial<LeaderStatement> | null;
  /** Of pg2. Default: it replayed 9001 on timeline 1, since just before. */
  readonly attachment?: Partial<Attachment>;
  readonly replica?: { readonly name?: string; readonly api?: null; readonly report?: null };
  readonly system?: string | undefined;
  readonly isPast: boolean;
}

const rows: readonly Row[] = [
  { given: "more than it stated later", isPast: true },
  { given: "as much", attachment: { replayed: 9_000 }, isPast: false },
  { given: "more, since the instant of that report", attachment: { replayedSinceMs: 2_000 }, isPast: false },
  { given: "nothing", attachment: { replayed: null }, isPast: false },
  { given: "more, since an unknown instant", attachment: { replayedSinceMs: null }, isPast: false },
  { given: "more, on another timeline", attachment: { timeline: 2 }, isPast: false },
  { given: "more, on an unknown timeline", attachment: { timeline: null }, isPast: false },
  {
    given: "more, while both timelines are unknown",
    leader: { says: { timeline: null } },
    attachment: { timeline: null },
    isPast: false,
  },
  { given: "more, in another database system", system: "8", isPast: false },
  { given: "more, in an unknown database system", system: undefined, isPast: true },
  { given: "more, and gives no report now", replica: { report: null }, isPast: true },
  {
    given: "more, while the leader's database system is unknown",
    leader: { says: { database_system_identifier: undefined } },
    isPast: true,
  },
  { given: "more, by the pages of an exporter", replica: { api: null }, isPast: false },
  { given: "more, and is the leader itself", replica: { name: "pg1" }, isPast: false },
  { given: "more, and the leader has no API", leader: { api: null }, isPast: false },
  {
    given: "more, and the leader leads a standby cluster",
    leader: { says: { role: "standby_leader" } },
    isPast: false,
  },
  { given: "more, and the leader stated no location", leader: { says: { xlog: null } }, isPast: false },
  { given: "more, and the leader's report is not kept", leader: { report: null }, isPast: false },
  { given: "more, and the leader is not known any more", stated: { by: "pg9" }, isPast: false },
  { given: "more, and no leader stated anything", stated: null, isPast: false },
];

function observed({ cluster }: ClusterFixture, name: string): Observation {
  const found = nodeNamed(cluster, name);
  assert.ok(found !== undefined);
  return found;
}

suite("a replica is past its leader if it had replayed", () => {
  for (const { given, leader = {}, stated = {}, attachment, replica = {}, isPast, ...of } of rows)
    test(`${given}: ${isPast ? "yes" : "no"}`, () => {
      const watched = new ClusterFixture();
      watched.lead("pg1", 2_000, { xlog: { location: 9_000 }, ...leader.says });
      const system = "system" in of ? of.system : "7000000000000000001";
      watched.follow("pg2", 2_500, { database_system_identifier: system });
      const [pg1, pg2] = [observed(watched, "pg1"), observed(watched, "pg2")];
      const known = {
        ...pg1,
        node: { ...pg1.node, ...("api" in leader ? { api: null } : {}) },
        report:
          "report" in leader ? null : reportOf("pg1", { role: "primary", xlog: { location: 9_000 }, ...leader.says }),
      };
      const statement: LeaderStatement = {
        by: "pg1",
        leader: "pg1",
        sentAtMs: 2_000,
        evidence: { nodes: [known], index: new Map([["pg1", 0]]) },
        sampledAtMs: 2_000,
        countsFromMs: 2_000,
        free: null,
        isUnbroken: true,
        stoppedAtMs: null,
        returned: null,
      };
      const { name = "pg2" } = replica;
      const observation = {
        node: { ...pg2.node, name, ...("api" in replica ? { api: null } : {}) },
        report: "report" in replica ? null : pg2.report,
        attachment: { ...pg2.attachment, replayed: 9_001, replayedSinceMs: 1_999, timeline: 1, ...attachment },
      };
      const lastStatement = stated === null ? null : { ...statement, ...stated };
      assert.equal(isPastLeader({ lastStatement }, observation), isPast);
    });
});
