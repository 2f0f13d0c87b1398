/**
 * Real balancers and poolers that are deliberately left on the old primary, or without a member, and do not follow
 * rolecall: the audit names them within 5 s of the mechanism's own delay, and no more once they are mended.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import { Client } from "pg";
import { plainCheck } from "../../src/core/health/check.ts";
import { haproxyBackendOf } from "../fake/config.ts";
import { FakePostgres } from "../fake/fake-postgres.ts";
import { freePort } from "../fake/free-port.ts";
import { until } from "../fake/until.ts";
import { AuditLab, echoDatabases, folderOf, runtimeCommand, sessionsAt } from "./lab/audit-lab.ts";
import { balancerPrograms } from "./lab/balancer-programs.ts";
import { Child } from "./lab/child.ts";
import { Envoy } from "./lab/envoy.ts";
import { Pgbouncer, pgbouncer118, pgbouncer124 } from "./lab/pgbouncer.ts";

/** How much longer than the mechanism's own delay it takes to name what differs, in s. */
const namedWithinS = 5;
const check = plainCheck("primary");

suite("the audit of real balancers", { concurrency: false }, () => {
  for (const { kind, title, found } of balancerPrograms()) {
    const skip = "notRun" in found ? found.notRun : false;
    if (kind === "haproxy")
      test(
        `names ${title} that keeps the sessions of the old primary, and lacks a member`,
        { skip },
        async (context) => {
          if ("path" in found) await auditHaproxy(context, found.path);
        },
      );
    else
      test(
        `names ${title} that keeps the sessions of the old primary, and lacks members`,
        { skip },
        async (context) => {
          if ("path" in found) await auditEnvoy(context, found.path);
        },
      );
  }

  for (const { title, found } of [pgbouncer118(), pgbouncer124()])
    test(
      `names ${title} that stays on the old primary`,
      { skip: "notRun" in found ? found.notRun : false },
      async (context) => {
        if ("path" in found) await auditPgbouncer(context, found.path);
      },
    );
});

/** HAProxy whose servers are not checked, so that nothing moves its sessions. */
async function auditHaproxy(context: TestContext, path: string): Promise<void> {
  const folder = folderOf();
  const socket = join(folder, "haproxy.sock");
  const port = await freePort();
  const databases = await echoDatabases(context);
  const [pg1, pg2] = databases;
  const configuration = `global
  stats socket ${socket} mode 600 level admin
defaults
  mode tcp
  timeout connect 2s
  timeout client 1m
  timeout server 1m
listen w
  bind 127.0.0.1:${port}
  balance first
  server pg1 127.0.0.1:${pg1?.port}
  server pg2 127.0.0.1:${pg2?.port} backup
`;
  writeFileSync(join(folder, "haproxy.cfg"), configuration);
  const child = new Child({ name: "haproxy", command: [path, "-db", "-f", join(folder, "haproxy.cfg")], folder });
  context.after(() => child.stop());
  const sessions = await sessionsAt(port, 3);
  const backend = haproxyBackendOf({ check });
  const lab = await AuditLab.start(
    context,
    databases.map((database) => database.port),
    {
      balancers: [
        { name: "lb1", haproxy: { socket: { path: socket }, zone: null, cutSessions: false, backends: [backend] } },
      ],
    },
  );
  await lab.finds(["missing pg3"], 10 + namedWithinS + 2);
  lab.lead("pg2");
  // Without `fall`: three checks of 2 s, and 1 s for a push.
  await lab.finds(["misrouted pg1", "missing pg3"], 7 + namedWithinS);
  await runtimeCommand(socket, "shutdown sessions server w/pg1");
  await until("the end of the sessions", () => sessions.every(({ isCut }) => isCut));
  await lab.finds(["missing pg3"], namedWithinS + 1);
  await lab.records(["routes_differ", "routes_differ", "routes_agree"]);
}

/** Envoy with fixed endpoints and no checks. */
async function auditEnvoy(context: TestContext, path: string): Promise<void> {
  const databases = await echoDatabases(context);
  const [adminPort, port] = [await freePort(), await freePort()];
  const bootstrap = `
admin: { address: { socket_address: { address: 127.0.0.1, port_value: ${adminPort} } } }
static_resources:
  listeners:
    - name: w
      address: { socket_address: { address: 127.0.0.1, port_value: ${port} } }
      filter_chains:
        - filters:
            - name: envoy.filters.network.tcp_proxy
              typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: w, cluster: pg_write }
  clusters:
    - name: pg_write
      type: STATIC
      load_assignment:
        cluster_name: pg_write
        endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: ${databases[0]?.port} } } } }] }]
`;
  const envoy = await Envoy.start({ name: "envoy", path, bootstrap, adminPort, folder: folderOf() });
  context.after(() => envoy.stop());
  const sessions = await sessionsAt(port, 3);
  const lab = await AuditLab.start(
    context,
    databases.map((database) => database.port),
    {
      pools: [{ name: "write", cluster: "demo", check, checkText: "/primary", weight: null }],
      audit: {
        intervalMs: 5_000,
        envoys: [{ name: "edge", admin: `http://127.0.0.1:${adminPort}`, pools: { pg_write: "write" } }],
      },
    },
  );
  const lacks = ["missing pg2", "missing pg3"];
  await lab.finds(lacks, 10 + namedWithinS + 2);
  lab.lead("pg2");
  // Nobody pushes to it: the checks of a rendered file take 4 s.
  await lab.finds(["misrouted pg1", ...lacks], 4 + namedWithinS);
  for (const session of sessions) session.close();
  await lab.finds(lacks, namedWithinS + 1);
}

/** A PgBouncer whose database leads to the old primary by its configuration. */
async function auditPgbouncer(context: TestContext, program: string): Promise<void> {
  const servers = ["pg1", "pg2", "pg3"].map(() => new FakePostgres(() => ({ rows: [{ one: "1" }] })));
  for (const server of servers) await server.start();
  context.after(() => Promise.all(servers.map((server) => server.stop())));
  const leadsTo = (at: number): readonly string[] => [
    `orders = host=127.0.0.1 port=${servers[at]?.port} dbname=postgres user=postgres`,
  ];
  const pgbouncer = await Pgbouncer.start({ program, databases: leadsTo(0) });
  context.after(() => pgbouncer.stop());
  await query(pgbouncer, "orders", "SELECT 1");
  const lab = await AuditLab.start(
    context,
    servers.map((server) => server.port),
    {
      poolers: [
        {
          name: "pgb1",
          pgbouncer: {
            address: { folder: pgbouncer.socketFolder, port: pgbouncer.port },
            user: "rolecall",
            passwordFile: null,
            tls: null,
            processes: 1,
          },
          databases: [{ name: "orders", pool: null, cluster: "demo", check, file: null }],
          pauseLimitMs: 3_000,
          holdOnLossMs: null,
          holdEnd: "wait",
        },
      ],
    },
  );
  await lab.looked();
  assert.deepEqual(await lab.found(), []);
  lab.lead("pg2");
  await lab.finds(["misrouted pg1"], 10 + namedWithinS);
  pgbouncer.configure({ databases: leadsTo(1) });
  await query(pgbouncer, "pgbouncer", "RELOAD");
  await query(pgbouncer, "pgbouncer", "RECONNECT orders");
  await query(pgbouncer, "orders", "SELECT 1");
  await lab.finds([], namedWithinS + 1);
  await lab.records(["routes_differ", "routes_agree"]);
}

/** Runs one statement on a connection of its own. */
async function query({ port }: Pgbouncer, database: string, statement: string): Promise<void> {
  const client = new Client({ host: "127.0.0.1", port, user: "rolecall", database });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
