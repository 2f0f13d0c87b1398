import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { poolOfDatabase } from "../../../../src/features/pgbouncer/audit/pgbouncer-servers.ts";
import { readDatabases, readServers } from "../../../../src/core/balancing/pgbouncer/documents.ts";

function databaseRow(host: string | null): Record<string, string | null> {
  return { name: "orders", host, port: "5432", database: "orders", paused: "0", disabled: "0" };
}

function serverRow(addr: string, port = "5432"): Record<string, string> {
  return { type: "S", user: "u", database: "orders", state: "idle", addr, port, ptr: "0x1", link: "" };
}

/** Where the database leads, whether rolecall writes its file, and how long a connection to 10.0.0.1 may stay, in s. */
const delays: readonly (readonly [host: string, hasFile: boolean, delayS: number])[] = [
  ["10.0.0.2", true, 6],
  ["10.0.0.1", true, 6],
  ["10.0.0.1", false, 10],
  ["10.0.0.2", false, 610],
  ["primary.db.internal", false, 14],
  ["10.0.0.1,10.0.0.2", false, 10],
  ["10.0.0.2,10.0.0.3", false, 610],
];

describe("how long a connection may stay that leads to 10.0.0.1", () => {
  for (const [host, hasFile, delayS] of delays)
    test(`${delayS} s if the database leads to ${host}${hasFile ? " by a file of rolecall" : ""}`, () => {
      const shows = {
        databases: readDatabases([databaseRow(host)]),
        servers: readServers([serverRow("10.0.0.1")]),
        settings: new Map([
          ["server_lifetime", "600"],
          ["dns_max_ttl", "4"],
        ]),
      };
      const pool = poolOfDatabase({ name: "orders", hasFile }, shows);
      assert.deepEqual(
        pool.servers?.map(({ delayMs }) => delayMs),
        [delayS * 1_000],
      );
    });
});

test("counts the connections by their address, those of the database alone", () => {
  const servers = readServers([
    serverRow("10.0.0.1"),
    serverRow("10.0.0.1"),
    serverRow("10.0.0.2", "5433"),
    { ...serverRow("10.0.0.1"), database: "other" },
    serverRow("unix"),
  ]);
  const pool = poolOfDatabase(
    { name: "orders", hasFile: false },
    { databases: readDatabases([databaseRow("10.0.0.2")]), servers, settings: new Map() },
  );
  assert.deepEqual(pool.leadsTo, { host: "10.0.0.2", port: 5432 });
  assert.deepEqual(
    pool.servers?.map(({ server, address, sessions }) => [server, address?.host ?? null, sessions]),
    [
      ["10.0.0.1:5432", "10.0.0.1", 2],
      ["10.0.0.2:5433", "10.0.0.2", 1],
      ["unix:5432", null, 1],
    ],
  );
});

test("says that PgBouncer has no such database", () => {
  const shows = { databases: [], servers: [], settings: new Map() };
  assert.equal(poolOfDatabase({ name: "orders", hasFile: false }, shows).servers, null);
});
