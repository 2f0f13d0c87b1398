/** What Envoys get of a pool is what the node API answers at the same sequence number. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { ClusterState, Snapshot } from "../../../src/cluster/snapshot.ts";
import { isUnproven } from "../../../src/health/reason.ts";
import { oneNodeRoutes } from "../../../src/health/route.ts";
import { answer } from "../../../src/http/node-api/answer.ts";
import type { Request } from "../../../src/http/message/request.ts";
import { poolMembers } from "../../../src/pools/pool-members.ts";
import { viewAt } from "../../../src/health/evidence/leadership/cluster-view.ts";
import { PoolAssignments } from "../../../src/push/xds/pool-assignments.ts";
import { anyEvent, observeAll, outcomeSequence, policyOf, sentAt, unprobedCluster } from "../../health/arbitraries.ts";
import { anyCheck, anyGuards } from "../../health/rules/check-arbitraries.ts";

const scenario = fc.record({
  outcomes: outcomeSequence(anyEvent, 40),
  guards: anyGuards,
  check: anyCheck.map((check) => ({ ...check, database: null, isForSessions: false })),
  laterMs: fc.constantFrom(0, 1, 900, 2_500, 7_000, 30_000),
});
const request: Request = {
  method: "GET",
  target: "/",
  host: undefined,
  nodeHeader: undefined,
  serverState: undefined,
};

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
    fc.property(scenario, ({ outcomes, guards, check, laterMs }) => {
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
      const snapshot: Snapshot = {
        instance: "i",
        sequence: 7,
        clusters: [cluster],
        index: new Map([[cluster.name, 0]]),
      };
      const inputs = { snapshot, policy: () => policy, nowMs, unready: () => null };
      const { endpoints } = published.assignment;
      if (oneNodeRoutes.has(check.route)) assert.equal(endpoints.length, cluster.nodes.length);
      for (const { node } of cluster.nodes) {
        const target = { cluster: cluster.name, node: node.name, isAnyCase: false, otherByHost: null };
        const { status } = answer({ kind: "check", target, check }, request, inputs);
        const isHealthy = endpoints.some((endpoint) => endpoint.node === node.name && endpoint.isHealthy);
        assert.equal(isHealthy, status === 200, `${node.name}: ${status}`);
      }
    }),
  );
});
