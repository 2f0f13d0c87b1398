/** Companions of nodes, with real PgBouncers: killed, frozen, started again, with and without TLS. */
import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import type { App } from "../../src/app/app.ts";
import { checkCompanion } from "../../src/core/probe/client/companion-check.ts";
import { CertificateAuthority } from "../fake/certificates.ts";
import { appOf, fixedCluster, portFor, whole } from "../app/app-fixture.ts";
import { configOf } from "../fake/config.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { until } from "../fake/until.ts";
import { giveToPostgres } from "./lab/child.ts";
import { pgbouncer118, pgbouncer124, Pgbouncer } from "./lab/pgbouncer.ts";

const database = "orders = host=127.0.0.1 port=1";
const paths = ["/nodes/pg1/primary?with=pooler", "/nodes/pg2/replica?with=pooler", "/nodes/pg2/replica?with=port"];
const others = ["/nodes/pg1/primary", "/nodes/pg2/replica", "/nodes/pg2/health", "/clusters/demo/primary?with=pooler"];

async function answers(app: App, asked: readonly string[]): Promise<readonly string[]> {
  const port = portFor(app, whole);
  return Promise.all(
    asked.map(async (path) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      await response.arrayBuffer();
      return response.status === 200 ? "yes" : response.statusText;
    }),
  );
}

/** Two nodes with a PgBouncer beside each, checked as PgBouncer (`pooler`) and as a port (`port`). */
async function pooledApp(context: TestContext, poolers: readonly Pgbouncer[]): Promise<App> {
  const plain = fixedCluster(await openFakeCluster(context, ["pg1", "pg2"]));
  const nodes = plain.nodes.map((node, at) => {
    const address = { host: "127.0.0.1", port: poolers[at]?.port ?? 0 };
    return { ...node, companions: { pooler: address, port: address } };
  });
  const companions = [
    { name: "pooler", port: 6432, kind: "pgbouncer" as const, path: null },
    { name: "port", port: 6432, kind: "tcp" as const, path: null },
  ];
  const config = configOf({ clusters: [{ ...plain, nodes, companions }], listen: [whole] });
  const probe = { ...config.probe, intervalMs: 1_000, connectTimeoutMs: 500, timeoutMs: 2_500, maxAgeMs: 5_500 };
  const app = appOf(context, { ...config, probe });
  await app.start();
  return app;
}

for (const { title, found } of [pgbouncer118(), pgbouncer124()]) {
  suite(title, { skip: "notRun" in found ? found.notRun : false }, () => {
    const program = "path" in found ? found.path : "";

    test("killed or frozen beside one node, it takes that node out and nothing else", async (context) => {
      const start = (): Promise<Pgbouncer> => Pgbouncer.start({ program, databases: [database] });
      const poolers = [await start(), await start()];
      context.after(() => Promise.all(poolers.map((pooler) => pooler.stop())));
      const app = await pooledApp(context, poolers);
      const second = poolers[1];
      assert.ok(second !== undefined);
      assert.deepEqual(await answers(app, paths), ["yes", "yes", "yes"]);
      const before = await answers(app, others);

      const killedMs = performance.now();
      await second.kill();
      await until("pg2 is out", async () => (await answers(app, paths))[1] === "companion pooler refused");
      const tookMs = performance.now() - killedMs;
      context.diagnostic(`out ${Math.round(tookMs)} ms after kill -9`);
      // Three failures in a row, one an interval of 1 s, which varies by a tenth.
      assert.ok(tookMs < 4_000, `${tookMs} ms`);
      assert.equal((await answers(app, paths))[0], "yes");
      assert.deepEqual(await answers(app, others), before);
      await second.start();
      await until("pg2 is back", async () => (await answers(app, paths)).every((answer) => answer === "yes"));

      const frozenMs = performance.now();
      const thaw = second.freeze();
      context.after(thaw);
      await until("pg2 is out", async () => (await answers(app, paths))[1]?.startsWith("companion pooler") === true);
      context.diagnostic(`out ${Math.round(performance.now() - frozenMs)} ms after SIGSTOP`);
      assert.deepEqual((await answers(app, paths)).toSpliced(1, 1), ["yes", "yes"], "the system accepts connections");
      assert.deepEqual(await answers(app, others), before);
      thaw();
      await until("pg2 is back", async () => (await answers(app, paths)).every((answer) => answer === "yes"));
    });

    for (const tls of [false, true])
      test(`answers an SSLRequest without a line in its log, ${tls ? "with" : "without"} TLS`, async (context) => {
        const pooler = await Pgbouncer.start({
          program,
          databases: [database],
          settings: tls ? tlsSettings(context) : {},
        });
        context.after(() => pooler.stop());
        const limits = { connectTimeoutMs: 2_000, timeoutMs: 2_000 };
        const target = { host: "127.0.0.1", port: pooler.port, kind: "pgbouncer" as const, path: "/" };
        const before = pooler.tail;
        for (let checks = 0; checks < 20; checks += 1) assert.equal(await checkCompanion(target, limits).ended, null);
        // It writes its log at once: the next line follows whatever the checks caused.
        await until("a line of its log", () => {
          pooler.signal("SIGHUP");
          return pooler.tail.length > before.length;
        });
        assert.doesNotMatch(pooler.tail.slice(before.length), /\bC-0x|closing|client/i);
      });
  });
}

/** The settings of a PgBouncer that requires TLS of its clients, in files that it can read. */
function tlsSettings(context: TestContext): Readonly<Record<string, string>> {
  const authority = new CertificateAuthority();
  context.after(() => authority.remove());
  const { cert, key } = authority.issue("pgbouncer");
  giveToPostgres(authority.folder);
  return { client_tls_sslmode: "require", client_tls_key_file: key, client_tls_cert_file: cert };
}
