import { nodeNamed } from "../../../core/cluster/lookup.ts";
import type { JsonObject } from "../../../core/cluster/values/json.ts";
import type { ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { announcedRequest, deadlineOf, gotText } from "../run/read-request.ts";
import type { SwitchoverRequest } from "../run/plan-of.ts";

/** The keys of the body of `POST /clusters/{cluster}/nodes/{node}/restart` with `"seamless": true`. */
const keys = ["seamless", "restart_pending", "deadline", "unguarded"];

/**
 * Reads the request for a restart during which clients wait.
 * @param node its name in the configuration
 * @param databases what is paused, as `pgb1/orders`
 * @returns the request; or a sentence that says what is wrong with it
 */
export function readRestartRequest(
  body: JsonObject,
  {
    view,
    node,
    databases,
  }: { readonly view: ClusterView; readonly node: string; readonly databases: readonly string[] },
  isDryRun: boolean,
): SwitchoverRequest | { readonly problem: string } {
  const unknown = Object.keys(body).find((key) => !keys.includes(key));
  if (unknown !== undefined) return problem("body", `one of the keys ${keys.join(", ")}`, unknown);
  const deadlineMs = deadlineOf(body["deadline"]);
  if (deadlineMs === null) return problem("deadline", "a duration from 1s to 5min", body["deadline"]);
  const [isUnguarded, onlyIfPending] = [body["unguarded"] ?? false, body["restart_pending"] ?? false];
  if (typeof isUnguarded !== "boolean") return problem("unguarded", "true or false", isUnguarded);
  if (typeof onlyIfPending !== "boolean") return problem("restart_pending", "true or false", onlyIfPending);
  return {
    ...announcedRequest(view.cluster.name, node),
    start: "restart",
    isDryRun,
    isUnguarded,
    deadlineMs,
    restart: {
      isLeader: view.lock.holder === node,
      startedAt: nodeNamed(view.cluster, node)?.report?.startedAt ?? "",
      onlyIfPending,
      databases: new Set(databases),
    },
  };
}

function problem(key: string, allowed: string, given: unknown): { readonly problem: string } {
  return { problem: `Cannot read the request for a restart: ${key} must be ${allowed}, got ${gotText(given)}` };
}
