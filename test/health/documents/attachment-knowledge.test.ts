import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeNamed } from "../../../src/cluster/lookup.ts";
import { plainCheck } from "../../../src/health/check.ts";
import { viewAt } from "../../../src/health/evidence/leadership/cluster-view.ts";
import { attachmentKnowledge } from "../../../src/health/documents/attachment-knowledge.ts";
import type { Route } from "../../../src/health/route.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

interface Row {
  readonly route: Route;
  readonly node?: "pg1" | "pg2" | "pg3";
  readonly replicationState?: string;
  readonly version?: string;
  readonly isArchiveFed?: true;
  readonly isUnguarded?: true;
  readonly expected: "not known" | "not needed";
}

const rows: readonly Row[] = [
  { route: "replica", expected: "not known" },
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
      expected,
    } = row;
    const watched = new ClusterFixture();
    watched.lead("pg1", 0, { xlog: { location: 50_000_000 } });
    const xlog = { received_location: 40_000_000, replayed_location: 40_000_000 };
    watched.follow("pg2", 0, { xlog, patroni: { version, scope: "demo", name: "pg2" } });
    const guards = { ...watched.policy.guards, attachedReplica: isUnguarded !== true };
    const known = nodeNamed(watched.cluster, node);
    assert.ok(known !== undefined);
    const observation = isArchiveFed === true ? { ...known, node: { ...known.node, isArchiveFed } } : known;
    const view = viewAt(watched.cluster, { ...watched.policy, guards }, 0);
    const check = { ...plainCheck(route), replicationState };
    assert.equal(attachmentKnowledge(view, { observation, check }, null), expected, JSON.stringify(row));
  }
});
