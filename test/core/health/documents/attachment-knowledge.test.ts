import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeNamed } from "../../../../src/core/cluster/lookup.ts";
import { plainCheck } from "../../../../src/core/health/check.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { attachmentKnowledge } from "../../../../src/core/health/documents/attachment-knowledge.ts";
import type { Route } from "../../../../src/core/health/route.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

interface Row {
  readonly route: Route;
  readonly node?: "pg1" | "pg2" | "pg3";
  readonly replicationState?: string;
  readonly version?: string;
  readonly isArchiveFed?: true;
  readonly isUnguarded?: true;
  /** The position in its first report. */
  readonly first?: number;
  /** What it has received by now: 40 MB by default. Its leader has written 50 MB. */
  readonly reached?: number;
  readonly expected: "known" | "not known" | "not needed";
}

const rows: readonly Row[] = [
  { route: "replica", expected: "not known" },
  { route: "replica", first: 39_000_000, expected: "known" },
  { route: "replica", first: 40_000_000, expected: "not known" },
  { route: "replica", first: 41_000_000, expected: "not known" },
  { route: "replica", first: 50_000_000, reached: 50_000_000, expected: "known" },
  { route: "replica", reached: 50_000_000, expected: "known" },
  { route: "replica", reached: 49_999_999, expected: "not known" },
  { route: "health", first: 39_000_000, expected: "not needed" },
  { route: "health", expected: "not needed" },
  { route: "primary", expected: "not needed" },
  { route: "read-only", expected: "not known" },
  { route: "read-only", node: "pg1", expected: "not needed" },
  { route: "readiness", node: "pg1", expected: "not needed" },
  { route: "replica", node: "pg3", expected: "not needed" },
  { route: "replica", replicationState: "streaming", expected: "not known" },
  { route: "replica", replicationState: "in archive recovery", expected: "not needed" },
  { route: "replica", isArchiveFed: true, expected: "not needed" },
  { route: "replica", isUnguarded: true, expected: "not needed" },
  { route: "replica", version: "3.3.0", expected: "not known" },
  { route: "readiness", expected: "not known" },
  { route: "readiness", version: "3.3.0", expected: "not needed" },
];

test("whether a short watch shows a node's attachment matters to the checks of a replica that depend on it", () => {
  for (const row of rows) {
    const {
      route,
      node = "pg2",
      replicationState = null,
      version = "4.1.4",
      isArchiveFed,
      isUnguarded,
      first = null,
      reached = 40_000_000,
      expected,
    } = row;
    const watched = new ClusterFixture();
    watched.lead("pg1", 0, { xlog: { location: 50_000_000 } });
    const xlog = { received_location: reached, replayed_location: reached };
    watched.follow("pg2", 0, { xlog, patroni: { version, scope: "demo", name: "pg2" } });
    const guards = { ...watched.policy.guards, attachedReplica: isUnguarded !== true };
    const known = nodeNamed(watched.cluster, node);
    assert.ok(known !== undefined);
    const observation = isArchiveFed === true ? { ...known, node: { ...known.node, isArchiveFed } } : known;
    const view = viewAt(watched.cluster, { ...watched.policy, guards }, 0);
    const check = { ...plainCheck(route), replicationState };
    assert.equal(attachmentKnowledge(view, { observation, check }, first), expected, JSON.stringify(row));
  }
});
