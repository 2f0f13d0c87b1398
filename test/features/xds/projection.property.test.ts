/** What Envoys get of a pool is what the node API answers at the same sequence number. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { isUnproven } from "../../../src/core/health/reason.ts";
import { poolMembers } from "../../../src/core/pools/pool-members.ts";
import { viewAt } from "../../../src/core/health/evidence/leadership/cluster-view.ts";
import { isOfPrimary } from "../../../src/core/balancing/pool-verdicts.ts";
import { PoolAssignments } from "../../../src/features/xds/pool-assignments.ts";
import { observeAll, policyOf, sentAt, unprobedCluster } from "../../core/health/arbitraries.ts";
import { nodeApiAnswer, poolScenario } from "../../core/pools/pool-scenario.ts";

/** The same cluster, in which every node has an address. */
function addressed(cluster: ClusterState): ClusterState {
  const nodes = cluster.nodes.map((observation, at) => ({
    ...observation,
    node: { ...observation.node, database: { host: `10.0.0.${at + 1}`, port: 5432 } },
  }));
  return { ...cluster, nodes };
}

test("an endpoint is healthy if the check of its node is answered with 200, and in no other case", () => {
  fc.assert(
    fc.property(poolScenario, ({ outcomes, guards, check: asked, laterMs }) => {
      const check = { ...asked, isForSessions: false };
      const policy = policyOf(guards);
      const cluster = addressed(observeAll(unprobedCluster(), outcomes, policy));
      const nowMs = Math.max(0, ...outcomes.map(sentAt)) + laterMs;
      const assignments = new PoolAssignments({
        cluster: () => cluster,
        policy: () => policy,
        now: () => nowMs,
        setTimer: () => () => {},
        onError: (_, error) => assert.fail(String(error)),
        addresses: { of: (host) => ({ ip: host, isElsewhere: false, isPending: false }), follow: () => {} },
        probedAt: () => null,
        onElsewhere: () => assert.fail("no name leads elsewhere"),
        instance: () => "i",
        onChange: () => {},
      });
      const pool = { name: "p", cluster: cluster.name, check, checkText: "/p", weight: null };
      assignments.configure([pool], { cutMs: 2_000, roundMs: 0, staleAfterMs: null, checksAt: null });
      const published = assignments.of("p");
      const { members } = poolMembers(viewAt(cluster, policy, nowMs), check);
      const isJudged = members.some(({ verdict }) => verdict.fit || !isUnproven(verdict.reason));
      assert.equal(published !== undefined, isJudged);
      if (published === undefined) return;
      const { endpoints } = published.assignment;
      if (isOfPrimary(pool)) assert.equal(endpoints.length, cluster.nodes.length);
      for (const { node } of cluster.nodes) {
        const { status } = nodeApiAnswer({ cluster, policy, nowMs }, node.name, check);
        const isHealthy = endpoints.some((endpoint) => endpoint.node === node.name && endpoint.isHealthy);
        assert.equal(isHealthy, status === 200, `${node.name}: ${status}`);
      }
    }),
  );
});
