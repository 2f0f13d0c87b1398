import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEnvoyClusters } from "../../../../src/features/audit/sources/envoy-clusters.ts";

function host(address: string, parts: object = {}, counts: Readonly<Record<string, string>> = {}): object {
  const stats = Object.entries(counts).map(([name, value]) => ({ name, value, type: "GAUGE" }));
  const socket = { socket_address: { address, port_value: 5432 } };
  // Envoy leaves out the value 0.
  return { address: socket, stats: [{ name: "cx_active", type: "GAUGE" }, ...stats], weight: 1, ...parts };
}

test("reads endpoints, whether they take connections, and how many they have", () => {
  const healthy = { eds_health_status: "HEALTHY" };
  const hosts = [
    host("10.0.0.1", { health_status: healthy }, { cx_active: "3", cx_total: "40" }),
    host("10.0.0.2", { health_status: { ...healthy, failed_active_health_check: true } }),
    host("10.0.0.3", { health_status: { ...healthy, failed_outlier_check: true } }),
    host("10.0.0.4", { health_status: { eds_health_status: "UNHEALTHY" } }),
    host("10.0.0.5", { health_status: { eds_health_status: "DRAINING" } }),
    host("10.0.0.6", { health_status: healthy, priority: 1 }),
    host("10.0.0.7", { health_status: { ...healthy, pending_dynamic_removal: true } }, { cx_active: "1" }),
    { address: { pipe: { path: "/run/x" } } },
  ];
  const [pool, none] = parseEnvoyClusters(
    { cluster_statuses: [{ name: "w", host_statuses: hosts }] },
    ["w", "r"],
    3_000,
  );
  assert.deepEqual(
    pool?.servers?.map(({ server, use, sessions, total }) => [server, use, sessions, total]),
    [
      ["10.0.0.1:5432", "takes", 3, 40],
      ["10.0.0.2:5432", "down", 0, 0],
      ["10.0.0.3:5432", "down", 0, 0],
      ["10.0.0.4:5432", "down", 0, 0],
      ["10.0.0.5:5432", "down", 0, 0],
      ["10.0.0.6:5432", "spare", 0, 0],
      ["10.0.0.7:5432", "down", 1, 0],
    ],
  );
  assert.equal(none?.servers, null);
});

for (const document of [null, [], {}, { cluster_statuses: {} }, "x"])
  test(`refuses ${JSON.stringify(document)}`, () => {
    assert.throws(() => parseEnvoyClusters(document, ["w"], 3_000), /cluster_statuses/);
  });

test("survives hosts of any form", () => {
  const hosts = [
    null,
    1,
    [],
    {},
    { address: 1 },
    { address: { socket_address: { address: "a", port_value: "x" } } },
    host("10.0.0.1", { stats: [{ name: "cx_active", value: "many" }, null] }),
  ];
  const [pool] = parseEnvoyClusters({ cluster_statuses: [{ name: "w", host_statuses: hosts }] }, ["w"], 3_000);
  assert.deepEqual(
    pool?.servers?.map(({ sessions }) => sessions),
    [0],
  );
});
