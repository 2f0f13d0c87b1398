import assert from "node:assert/strict";
import { test } from "node:test";
import type { Observation } from "../../../../../src/core/cluster/observation.ts";
import { attachmentWarning } from "../../../../../src/core/health/evidence/attachment/attachment-warning.ts";
import { steadyCluster } from "../../../../fake/cluster-fixture.ts";

const silent = "streams from no node, not caught up, not advanced";
const listed = "listed by its sender, but has not advanced";

const rows: readonly {
  readonly attachment: {
    readonly silentMs?: number;
    readonly listedMs?: number;
    readonly isDetached?: true;
    readonly isStalled?: true;
  };
  readonly warning: string | null;
}[] = [
  { attachment: {}, warning: null },
  { attachment: { silentMs: 1 }, warning: `${silent} for 0 s` },
  { attachment: { silentMs: 1_000_000, listedMs: 500_000 }, warning: `${silent} for 1500 s` },
  { attachment: { isDetached: true }, warning: silent },
  { attachment: { listedMs: 1 }, warning: `${listed} for 0 s` },
  { attachment: { isStalled: true }, warning: listed },
];

test("a warning states what counts against a node's attachment, and for how long where that is known", () => {
  const { cluster, policy } = steadyCluster();
  const replica = cluster.nodes.find(({ node }) => node.name === "pg2");
  assert.ok(replica !== undefined);
  for (const { attachment, warning } of rows) {
    const observation: Observation = { ...replica, attachment: { ...replica.attachment, ...attachment } };
    assert.equal(attachmentWarning({ policy }, observation), warning, JSON.stringify(attachment));
    const unguarded = { ...policy, guards: { ...policy.guards, attachedReplica: false } };
    assert.equal(attachmentWarning({ policy: unguarded }, observation), null, "the guard is off");
    const archiveFed = { ...observation, node: { ...observation.node, isArchiveFed: true } };
    assert.equal(attachmentWarning({ policy }, archiveFed), null, "it needs no stream");
  }
});
