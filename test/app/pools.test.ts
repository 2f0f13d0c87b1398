/** Pools of a whole process: what refers to them, and what `GET /pools` says of them. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import { loadConfig } from "../../src/app/registry/config.ts";
import type { App } from "../../src/app/app.ts";
import { type FakeNode, openFakeCluster } from "../fake/fake-node.ts";
import { sendRequest } from "../fake/http-request.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { until } from "../fake/until.ts";
import { appOf, limit } from "./app-fixture.ts";

interface Fixture {
  readonly nodes: readonly FakeNode[];
  readonly app: App;
  /** Reads a path of the admin listener; of the one for the cluster `other` with `other`. */
  readonly read: (path: string, listener?: "all" | "other") => Promise<{ status: number; document: PoolAnswer }>;
}

interface PoolAnswer {
  readonly pools: readonly PoolAnswer[];
  readonly pool: string;
  readonly named: boolean;
  readonly tcp: { readonly services: Readonly<Record<string, unknown>> };
  readonly fit: number;
  readonly version: string;
  readonly members: readonly { readonly node: string; readonly fit: boolean; readonly reason: string | null }[];
  readonly used_by: readonly { readonly kind: string; readonly name: string; readonly backend: string | null }[];
  readonly message: string;
}

async function start(context: TestContext): Promise<Fixture> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const file = join(temporaryFolder("pools"), "rolecall.yaml");
  writeFileSync(
    file,
    `
clusters:
  - { name: demo, nodes: [${nodes.map(({ name, api }) => `{ name: ${name}, api: "${api}", database: "10.0.0.${name.slice(2)}:5432" }`).join()}] }
  - { name: other, nodes: [{ name: db1, api: "http://127.0.0.1:1" }] }
probe: { interval: 100ms, cluster_interval: 100ms }
pools:
  - { name: writes, cluster: demo, check: /primary }
  - { name: reads, cluster: demo, check: "/replica?lag=10MB", min: 1 }
  - { name: others, cluster: other, check: /replica }
listen:
  - { port: 0, dialect: admin }
  - { address: 127.0.0.2, port: 0, dialect: admin, cluster: other }
  - { address: 127.0.0.3, port: 0, dialect: agent, pool: reads }
  - { address: 127.0.0.4, port: 0, dialect: agent, cluster: demo, check: /replica }
balancers:
  - { name: lb1, haproxy: { socket: /no/such/socket, backends: [{ name: pg_read, pool: reads }, { name: own, cluster: demo, check: "/replica?miss=404" }] } }
poolers:
  - { name: pgb1, pgbouncer: { address: /no/such/folder, user: rolecall }, databases: [{ name: orders, pool: writes }, { name: more, cluster: demo, check: /read-write }] }
log: { level: silent }
`,
  );
  const loaded = loadConfig({ file, env: {}, flags: {} });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const app = appOf(context, loaded.config);
  await app.start();
  const read: Fixture["read"] = async (path, listener = "all") => {
    const address = listener === "all" ? "127.0.0.1" : "127.0.0.2";
    const port = app.listeners.find(({ config }) => config.address === address)?.port;
    const { status, body } = await sendRequest(`http://${address}:${port}${path}`);
    return { status, document: JSON.parse(body) as PoolAnswer };
  };
  await until("a fit replica", async () => (await read("/pools/reads")).document.fit === 1);
  return { nodes, app, read };
}

suite("pools", limit, () => {
  test("are listed with their members in order, and with what refers to them", async (context) => {
    const { read } = await start(context);
    const others = async (): Promise<PoolAnswer["pools"][number] | undefined> =>
      (await read("/pools")).document.pools.find(({ pool }) => pool === "others");
    await until("the end of db1", async () => (await others())?.members[0]?.reason === "down");
    const { pools } = (await read("/pools")).document;
    const shown = pools.map(({ pool, members, used_by: users }) => [
      pool,
      members.map(({ node, reason }) => `${node} ${reason ?? "fit"}`),
      users.map(({ kind, name, backend }) => `${kind} ${name} ${backend ?? ""}`.trim()),
    ]);
    assert.deepEqual(shown, [
      ["writes", ["pg1 fit", "pg2 wrong_role"], ["pgbouncer pgb1 orders"]],
      ["reads", ["pg2 fit", "pg1 wrong_role"], ["haproxy lb1 pg_read", "agent 127.0.0.3:0"]],
      ["others", ["db1 down"], []],
      ["demo /replica", ["pg2 fit", "pg1 wrong_role"], ["haproxy lb1 own", "agent 127.0.0.4:0"]],
      ["demo /primary", ["pg1 fit", "pg2 wrong_role"], ["pgbouncer pgb1 more"]],
    ]);
    assert.deepEqual(
      pools.map(({ named }) => named),
      [true, true, true, false, false],
    );
    assert.equal((await read("/pools/demo%20%2Freplica")).document.pool, "demo /replica");
    const { services } = (await read("/pools?format=traefik")).document.tcp;
    assert.deepEqual(Object.keys(services), ["writes", "reads", "others"], "other programs see named pools alone");
  });

  test("of other clusters are no business of a listener with a cluster", async (context) => {
    const { read } = await start(context);
    assert.deepEqual(
      (await read("/pools", "other")).document.pools.map(({ pool }) => pool),
      ["others"],
    );
    const refused = await read("/pools/reads", "other");
    assert.deepEqual(
      [refused.status, refused.document.message],
      [404, 'Cannot find pool "reads": it must be one of others'],
    );
    for (const path of ["/pools?wait=1s", "/pools/reads?since=1", "/pools/reads?wait=2min"])
      assert.equal((await read(path)).status, 400, path);
    assert.equal((await read("/pools/reads/pg1")).status, 404);
    assert.equal((await read("/pools?format=yaml")).status, 400);
    assert.deepEqual((await read("/pools/reads?format=traefik")).document, {
      tcp: { services: { reads: { loadBalancer: { servers: [{ address: "10.0.0.2:5432" }] } } } },
    });
    // Until db1 is known to be down this is 503: an empty list would pass for what there is.
    await until("the end of db1", async () => (await read("/pools?format=http_sd", "other")).status === 200);
  });

  test("are answered late where a client knows them already: once balancers have to change something", async (context) => {
    const { nodes, read } = await start(context);
    const { version } = (await read("/pools/reads")).document;
    assert.equal((await read(`/pools/reads?after=${version}&wait=300ms`)).document.version, version);
    const waiting = read(`/pools/reads?after=${version}&wait=30s`);
    await nodes[1]?.close();
    const { fit, version: next } = (await waiting).document;
    assert.deepEqual([fit, next === version], [0, false]);
    assert.equal((await read(`/pools/reads?after=${version}&wait=30s`)).document.version, next);
  });
});
