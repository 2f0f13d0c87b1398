import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { hostConflict, resolveTargetNode } from "../../../src/http/node-api/target-node.js";
import { parseRequestTarget } from "../../../src/http/message/request-target.js";
import { ClusterFixture } from "../../fake/cluster-fixture.js";
import { listenerScopeOf, requestOf } from "../../fake/node-api-listener.js";
const rows = JSON.parse(readFileSync("test/spec/addressing.json", "utf8"));
const { cluster } = new ClusterFixture({ nodes: ["pg1", "pg2"] });
const snapshot = { instance: "run", sequence: 1, clusters: [cluster], index: new Map([["demo", 0]]) };
for (const row of rows) {
    test(`${row.given}: ${row.refuses === undefined ? `selects ${row.means}` : `is refused for its ${row.refuses}`}`, () => {
        const target = parseRequestTarget(row.target);
        assert.ok(!("problem" in target));
        const address = resolveTargetNode(target, requestOf(row.target, { host: row.host, nodeHeader: row.header }), listenerScopeOf(row.bound));
        const problem = "problem" in address ? address.problem : hostConflict(address.otherByHost, snapshot);
        if ("problem" in address || problem !== null) {
            assert.equal(problem?.subject, row.refuses);
            if (row.saying !== undefined)
                assert.equal(problem?.value, row.saying);
            return;
        }
        assert.equal(address.node === null ? address.cluster : `${address.cluster}/${address.node}`, row.means);
        assert.equal(address.isAnyCase, row.isAnyCase ?? false);
    });
}
//# sourceMappingURL=target-node.test.js.map