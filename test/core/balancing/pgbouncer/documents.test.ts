import assert from "node:assert/strict";
import { test } from "node:test";
import { ConsoleError } from "../../../../src/core/balancing/pgbouncer/console-error.ts";
import type { ConsoleRow } from "../../../../src/core/balancing/pgbouncer/console.ts";
import {
  isAtLeast,
  readClients,
  readDatabases,
  readPeers,
  readPools,
  readServers,
  readConfig,
  readVersion,
} from "../../../../src/core/balancing/pgbouncer/documents.ts";

/** Rows of a real 1.18; those of 1.24 have more columns, in another order. */
const database = {
  name: "orders",
  host: "10.0.0.1,10.0.0.2",
  port: "5432",
  database: "orders",
  force_user: "app",
  pool_size: "20",
  min_pool_size: "0",
  reserve_pool: "0",
  pool_mode: null,
  max_connections: "0",
  current_connections: "3",
  paused: "1",
  disabled: "0",
};
const server = {
  type: "S",
  user: "app",
  database: "orders",
  state: "active",
  addr: "10.0.0.1",
  port: "5432",
  local_addr: "10.0.0.9",
  local_port: "40000",
  connect_time: "2026-11-27 01:17:24 UTC",
  request_time: "2026-11-27 01:17:25 UTC",
  wait: "0",
  wait_us: "0",
  close_needed: "1",
  ptr: "0x561717d4aba0",
  link: "0x561717d4aaaa",
  remote_pid: "22599",
  tls: "",
};
const pool = {
  database: "orders",
  user: "app",
  cl_active: "2",
  cl_waiting: "1",
  sv_active: "2",
  sv_idle: "4",
  sv_used: "0",
  sv_tested: "0",
  sv_login: "1",
  maxwait: "2",
  maxwait_us: "345678",
  pool_mode: "transaction",
};

test("reads what PgBouncer says of databases, pools and connections, without columns that it does not need", () => {
  assert.deepEqual(readDatabases([database, { ...database, host: null, port: "", unknown: "x" }]), [
    {
      name: "orders",
      host: "10.0.0.1,10.0.0.2",
      port: 5432,
      poolMode: null,
      poolSize: 20,
      connections: 3,
      isPaused: true,
      isDisabled: false,
    },
    {
      name: "orders",
      host: null,
      port: null,
      poolMode: null,
      poolSize: 20,
      connections: 3,
      isPaused: true,
      isDisabled: false,
    },
  ]);
  assert.deepEqual(readPools([pool]), [
    {
      database: "orders",
      user: "app",
      clientsActive: 2,
      clientsWaiting: 1,
      serversActive: 2,
      serversIdle: 4,
      serversUsed: 0,
      serversInTest: 0,
      serversInLogin: 1,
      longestWaitMs: 2345,
      poolMode: "transaction",
    },
  ]);
  const connection = {
    user: "app",
    database: "orders",
    state: "active",
    address: "10.0.0.1",
    port: 5432,
    pointer: "0x561717d4aba0",
    link: "0x561717d4aaaa",
    connectTime: "2026-11-27 01:17:24 UTC",
    requestTime: "2026-11-27 01:17:25 UTC",
    applicationName: null,
    id: null,
    remotePid: 22_599,
    isCloseNeeded: true,
  };
  assert.deepEqual(readServers([server]), [connection]);
  assert.deepEqual(readClients([{ ...server, link: "", application_name: "psql", close_needed: null, id: "7" }]), [
    { ...connection, link: null, applicationName: "psql", isCloseNeeded: null, id: 7 },
  ]);
});

test("reads settings, peers and the version", () => {
  assert.deepEqual(
    readPeers([
      { peer_id: "1", host: "/run/pgb1", port: "6432", pool_size: "20" },
      { peer_id: "2", host: null, port: null },
    ]),
    [
      { id: 1, host: "/run/pgb1", port: 6432 },
      { id: 2, host: null, port: null },
    ],
  );
  const settings = readConfig([
    { key: "pool_mode", value: "transaction" },
    { key: "auth_user", value: null },
  ]);
  assert.deepEqual(
    [...settings],
    [
      ["pool_mode", "transaction"],
      ["auth_user", null],
    ],
  );
  const version = readVersion([{ version: "PgBouncer 1.24.1" }]);
  assert.deepEqual(version, { major: 1, minor: 24 });
  assert.deepEqual(
    [isAtLeast(version, 1, 24), isAtLeast(version, 1, 25), isAtLeast(version, 0, 99), isAtLeast(version, 2, 0)],
    [true, false, true, false],
  );
});

test("refuses what PgBouncer does not say", () => {
  const refused: readonly (readonly [() => unknown, RegExp])[] = [
    [() => readDatabases([{ ...database, paused: "yes" }]), /^paused of SHOW DATABASES must be .*, got yes$/],
    [() => readDatabases([{ ...database, port: "54.32" }]), /^port of SHOW DATABASES/],
    [() => readDatabases([{ ...database, name: null }]), /^name of SHOW DATABASES .* got nothing$/],
    [() => readDatabases([{}]), /^name of SHOW DATABASES/],
    [() => readPools([{ ...pool, cl_waiting: "1e99" }]), /^cl_waiting of SHOW POOLS/],
    [() => readPools([{ ...pool, maxwait: "9".repeat(40) }]), /^maxwait of SHOW POOLS/],
    [() => readServers([{ ...server, ptr: null }]), /^ptr of SHOW SERVERS/],
    [() => readClients([{ ...server, remote_pid: "\u001b[2J" }]), /^remote_pid of SHOW CLIENTS .* got \?\[2J$/],
    [() => readPeers([{ host: "x" }]), /^peer_id of SHOW PEERS/],
    [() => readConfig([{ value: "x" }] satisfies ConsoleRow[]), /^key of SHOW CONFIG/],
    [() => readVersion([]), /^version of SHOW VERSION/],
    [() => readVersion([{ version: "PostgreSQL 15" }]), /got PostgreSQL 15$/],
  ];
  for (const [read, message] of refused)
    assert.throws(
      read,
      (error) => error instanceof ConsoleError && error.kind === "unusable" && message.test(error.message),
    );
});
