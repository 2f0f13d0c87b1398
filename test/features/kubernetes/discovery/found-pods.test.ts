import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../../src/core/cluster/values/json.ts";
import { apisOfPods, slimFoundPod } from "../../../../src/features/kubernetes/discovery/found-pods.ts";

const seed = { namespace: "databases", selector: "a=b", port: 8008, isTls: false };

function pod(name: string, status: object, metadata: object = {}): readonly [string, JsonObject] {
  return [name, slimFoundPod({ metadata: { name, ...metadata }, spec: { containers: [] }, status })];
}

const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };

test("ready pods come first, then those that are not, and last those that end; without an address there is none", () => {
  const pods = new Map([
    pod("ending", { ...ready, podIP: "10.1.0.1" }, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    pod("unready", { phase: "Running", podIP: "10.1.0.2", conditions: [{ type: "Ready", status: "False" }] }),
    pod("ready-2", { ...ready, podIP: "fd00::3" }),
    pod("ready-1", { ...ready, podIP: "10.1.0.4" }),
    pod("pending", { phase: "Pending" }),
    pod("failed", { phase: "Failed", podIP: "10.1.0.5" }),
    pod("done", { phase: "Succeeded", podIP: "10.1.0.6" }),
    pod("hostile", { ...ready, podIP: "10.1.0.7:1/" }),
    pod("same", { phase: "Running", podIP: "10.1.0.4" }),
  ]);
  assert.deepEqual(apisOfPods(pods, seed), [
    "http://10.1.0.4:8008",
    "http://[fd00::3]:8008",
    "http://10.1.0.2:8008",
    "http://10.1.0.1:8008",
  ]);
});

test("with TLS, and another port", () => {
  const pods = new Map([pod("one", { ...ready, podIP: "10.1.0.1" })]);
  assert.deepEqual(apisOfPods(pods, { ...seed, port: 443, isTls: true }), ["https://10.1.0.1:443"]);
});

test("at most 64 are asked", () => {
  const pods = new Map(
    Array.from({ length: 100 }, (_, n) => pod(`pod-${String(n).padStart(3, "0")}`, { ...ready, podIP: `10.1.0.${n}` })),
  );
  const apis = apisOfPods(pods, seed);
  assert.deepEqual([apis.length, apis[0], apis.at(-1)], [64, "http://10.1.0.0:8008", "http://10.1.0.63:8008"]);
});
