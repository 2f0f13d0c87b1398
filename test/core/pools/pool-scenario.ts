import * as fc from "fast-check";
import type { ClusterState, Snapshot } from "../../../src/core/cluster/snapshot.ts";
import type { Check } from "../../../src/core/health/check.ts";
import type { HealthPolicy } from "../../../src/core/health/health-policy.ts";
import { answer } from "../../../src/core/http/node-api/answer.ts";
import type { Reply } from "../../../src/core/http/message/reply.ts";
import type { Request } from "../../../src/core/http/message/request.ts";
import { anyEvent, outcomeSequence } from "../health/arbitraries.ts";
import { anyCheck, anyGuards } from "../health/rules/check-arbitraries.ts";

/** What happens to a cluster, and a pool over it some time later. */
export const poolScenario = fc.record({
  outcomes: outcomeSequence(anyEvent, 40),
  guards: anyGuards,
  // A database address is what one balancer states of one server.
  check: anyCheck.map((check) => ({ ...check, database: null })),
  laterMs: fc.constantFrom(0, 1, 900, 2_500, 7_000, 30_000),
});

const request: Request = {
  method: "GET",
  target: "/",
  host: undefined,
  nodeHeader: undefined,
  serverState: undefined,
};

/** What the node API answers to a check of one node. */
export function nodeApiAnswer(
  { cluster, policy, nowMs }: { readonly cluster: ClusterState; readonly policy: HealthPolicy; readonly nowMs: number },
  node: string,
  check: Check,
): Reply {
  const snapshot: Snapshot = {
    instance: "i",
    sequence: 7,
    clusters: [cluster],
    index: new Map([[cluster.name, 0]]),
  };
  const inputs = { snapshot, policy: () => policy, nowMs, unready: () => null };
  const target = { cluster: cluster.name, node, isAnyCase: false, isBound: false, otherByHost: null };
  return answer({ kind: "check", target, check }, request, inputs);
}
