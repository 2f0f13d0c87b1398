import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { hostConflict, resolveTargetNode, type ListenerScope } from "../../../../src/core/http/node-api/target-node.ts";
import { parseRequestTarget } from "../../../../src/core/http/message/request-target.ts";
import type { Snapshot } from "../../../../src/core/cluster/snapshot.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { listenerScopeOf, requestOf } from "../../../fake/node-api-listener.ts";

interface Row {
  readonly given: string;
  readonly target: string;
  readonly header?: string;
  readonly host?: string;
  readonly bound?: Partial<ListenerScope>;
  readonly means?: string;
  readonly isAnyCase?: boolean;
  readonly refuses?: string;
  readonly saying?: string;
}

const rows: readonly Row[] = JSON.parse(readFileSync("test/spec/addressing.json", "utf8"));

const { cluster } = new ClusterFixture({ nodes: ["pg1", "pg2"] });
const snapshot: Snapshot = { instance: "run", sequence: 1, clusters: [cluster], index: new Map([["demo", 0]]) };

for (const row of rows) {
  test(`${row.given}: ${row.refuses === undefined ? `selects ${row.means}` : `is refused for its ${row.refuses}`}`, () => {
    const target = parseRequestTarget(row.target);
    assert.ok(!("problem" in target));
    const address = resolveTargetNode(
      target,
      requestOf(row.target, { host: row.host, nodeHeader: row.header }),
      listenerScopeOf(row.bound),
    );
    const problem = "problem" in address ? address.problem : hostConflict(address.otherByHost, snapshot);
    if ("problem" in address || problem !== null) {
      assert.equal(problem?.subject, row.refuses);
      if (row.saying !== undefined) assert.equal(problem?.value, row.saying);
      return;
    }
    assert.equal(address.node === null ? address.cluster : `${address.cluster}/${address.node}`, row.means);
    assert.equal(address.isAnyCase, row.isAnyCase ?? false);
  });
}
