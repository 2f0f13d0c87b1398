import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { arePodsEqual, podsByIp, slimPod } from "../../../../src/features/kubernetes/slices/pods.ts";

function pod(name: string, status: object, spec: object = {}): ReturnType<typeof slimPod> {
  return slimPod({
    metadata: { name, namespace: "databases", uid: `uid-${name}`, annotations: { leader: "x".repeat(100) } },
    spec: { nodeName: "k1", containers: [{}], ...spec },
    status,
  });
}

describe("the pods of a namespace", () => {
  test("are known by all their addresses", () => {
    const pods = podsByIp([pod("pg-0", { podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] })]);
    const at = { namespace: "databases", name: "pg-0", uid: "uid-pg-0", nodeName: "k1" };
    assert.deepEqual(
      [...pods],
      [
        ["10.0.0.1", at],
        ["fd00::1", at],
      ],
    );
  });

  test("those without an address, those that have ended, and those with the network of their machine are not", () => {
    const none = [
      pod("waits", { phase: "Pending" }),
      pod("done", { podIP: "10.0.0.2", phase: "Succeeded" }),
      pod("failed", { podIP: "10.0.0.3", phase: "Failed" }),
      pod("host", { podIP: "10.0.0.4", phase: "Running" }, { hostNetwork: true }),
      {},
      { metadata: { name: 1 } },
    ];
    assert.equal(podsByIp(none).size, 0);
  });

  test("a pod that has not been placed on a machine yet has none", () => {
    const pods = podsByIp([pod("pg-0", { podIP: "10.0.0.1" }, { nodeName: undefined })]);
    assert.equal(pods.get("10.0.0.1")?.nodeName, null);
  });

  test("are compared by what slices say of them", () => {
    const one = podsByIp([pod("pg-0", { podIP: "10.0.0.1" })]);
    assert.ok(arePodsEqual(one, podsByIp([pod("pg-0", { podIP: "10.0.0.1", phase: "Running" })])));
    assert.ok(!arePodsEqual(one, podsByIp([pod("pg-0", { podIP: "10.0.0.1" }, { nodeName: "k2" })])));
    assert.ok(!arePodsEqual(one, podsByIp([pod("pg-1", { podIP: "10.0.0.1" })])));
    assert.ok(!arePodsEqual(one, podsByIp([])));
    assert.ok(!arePodsEqual(one, podsByIp([pod("pg-0", { podIP: "10.0.0.2" })])));
  });
});
