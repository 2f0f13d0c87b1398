import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { parse } from "yaml";
import type { ShownDatabase, ShownPeer, ShownPool } from "../../../../src/core/balancing/pgbouncer/documents.ts";
import type { Pausing } from "../../../../src/core/balancing/pgbouncer/inspect-pgbouncer.ts";
import { defaultDeadlineMs, poolerFindings } from "../../../../src/features/switchover/preflight/pooler-settings.ts";
import { poolerOf } from "../../../fake/pooler-setup.ts";

/** A row of the table; its first lines say what a missing key is. */
interface Row {
  readonly name: string;
  readonly address?: string;
  readonly processes?: number;
  /** The cluster of a switchover. */
  readonly cluster?: string;
  readonly configured?: readonly { readonly name: string; readonly cluster: string; readonly file: string | null }[];
  /** The addresses of other poolers. */
  readonly others?: readonly string[];
  readonly version?: number;
  /** `hold_on_loss`, in ms. */
  readonly hold?: number;
  readonly settings?: Readonly<Record<string, string>>;
  readonly databases?: readonly Partial<ShownDatabase>[];
  readonly pools?: readonly Partial<ShownPool>[];
  readonly peers?: readonly ShownPeer[] | null;
  readonly pausing?: Pausing;
  readonly isOneProcess?: boolean;
  readonly twins?: readonly number[];
  readonly findings: readonly string[];
}

const rows: readonly Row[] = parse(readFileSync("test/spec/switchover/pooler-settings.yaml", "utf8"));
const settings = {
  pool_mode: "transaction",
  server_login_retry: "1",
  query_wait_timeout: "120",
  so_reuseport: "0",
  peer_id: "0",
  max_prepared_statements: "200",
};
const shownDatabase: ShownDatabase = {
  name: "orders",
  host: "balancer.internal",
  port: 5000,
  poolMode: null,
  poolSize: 20,
  connections: 0,
  isPaused: false,
  isDisabled: false,
};
const shownPool: ShownPool = {
  database: "orders",
  user: "app",
  clientsActive: 0,
  clientsWaiting: 0,
  serversActive: 0,
  serversIdle: 0,
  serversUsed: 0,
  serversInTest: 0,
  serversInLogin: 0,
  longestWaitMs: 0,
  poolMode: "transaction",
};

function findingsOf(row: Row): ReturnType<typeof poolerFindings> {
  const { peers = [], version = 1.24 } = row;
  const plain = poolerOf("pgb1", row.address ?? "10.0.0.9:6432");
  const [database] = plain.databases;
  assert.ok(database !== undefined);
  const pooler = {
    ...plain,
    holdOnLossMs: row.hold ?? null,
    pgbouncer: { ...plain.pgbouncer, processes: row.processes ?? 1 },
    databases: (row.configured ?? [{}]).map((changes) => ({ ...database, ...changes })),
  };
  return poolerFindings({
    pooler,
    shown: {
      version: { major: 1, minor: Math.round((version - 1) * 100) },
      settings: new Map(Object.entries({ ...settings, ...row.settings })),
      databases: (row.databases ?? [{}]).map((changes) => ({ ...shownDatabase, ...changes })),
      pools: (row.pools ?? []).map((changes) => ({ ...shownPool, ...changes })),
      peers,
      pausing: row.pausing ?? "possible",
      isOneProcess: row.isOneProcess ?? true,
      twins: row.twins ?? [],
    },
    poolers: [pooler, ...(row.others ?? []).map((address) => poolerOf(address, address))],
    servers: [
      { cluster: "orders", node: "pg1", address: { host: "10.0.0.1", port: 5432 } },
      { cluster: "orders", node: "pg2", address: { host: "pg2.internal", port: 5432 } },
      { cluster: "billing", node: "pb1", address: { host: "10.0.1.1", port: 5432 } },
    ],
    resolved: new Map([
      ["vip.internal", ["10.0.0.1"]],
      ["pg2.internal", ["10.0.0.2"]],
    ]),
    deadlineMs: defaultDeadlineMs,
    cluster: row.cluster ?? null,
  });
}

suite("what a pooler's console says, against what a seamless switchover needs", () => {
  for (const row of rows)
    test(row.name, () => {
      const findings = findingsOf(row);
      assert.deepEqual(
        findings.map(({ level, kind, subject, text }) => `${level} ${kind} ${subject}: ${text}`),
        row.findings,
      );
      for (const { hint } of findings) assert.match(hint, /^[A-Z].*\.$/);
    });

  test("names at most 20 databases that are not listed", () => {
    const others = Array.from({ length: 5000 }, (_, at) => ({ name: `auto/${at}`, host: "10.0.0.1", port: 5432 }));
    const findings = findingsOf({ name: "", databases: [{}, ...others], findings: [] });
    assert.equal(findings.length, 21);
    assert.deepEqual(
      [findings.at(-1)?.subject, findings.at(-1)?.text],
      ["pgb1", "4980 more databases must be among databases, because they lead to the clusters"],
    );
  });
});
