/** No verdict depends on canaries: while they fail, the answers to checks are those of a rolecall that has none. */
import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import type { App } from "../../../src/app/app.ts";
import { listOf, objectOf } from "../../../src/core/cluster/values/json.ts";
import { plainCheck } from "../../../src/core/health/check.ts";
import type { CanaryConfig } from "../../../src/features/canary/config/canary-schema.ts";
import { appOf, fixedCluster, portFor, whole } from "../../app/app-fixture.ts";
import { configOf, listenerOf } from "../../fake/config.ts";
import { type FakeNode, openFakeCluster } from "../../fake/fake-node.ts";
import { FakePostgres, type FakeAnswer } from "../../fake/fake-postgres.ts";
import { freePort } from "../../fake/free-port.ts";
import { until } from "../../fake/until.ts";

const admin = listenerOf({ address: "127.0.0.1", dialect: "admin" });
const routes = [
  "/primary",
  "/leader",
  "/replica",
  "/replica?lag=10MB",
  "/replica?lag_time=10s",
  "/replica?miss=404",
  "/primary?for=sessions",
  "/read-only",
  "/sync",
  "/async",
  "/health",
  "/liveness",
  "/readiness",
];
const names = ["pg1", "pg2", "pg3"];
const paths = [
  ...names.flatMap((name) => routes.map((route) => `/nodes/${name}${route}`)),
  ...routes.map((route) => `/clusters/demo${route}`),
  "/readyz",
  "/livez",
];

function canaryAt(pool: string, port: number): CanaryConfig {
  const address = { host: "127.0.0.1", port };
  return {
    pool,
    url: { address, user: "canary", database: "app", target: `127.0.0.1:${port}/app` },
    intervalMs: 1_000,
    timeoutMs: 500,
    passwordFile: null,
    tls: null,
  };
}

async function appWith(
  context: TestContext,
  nodes: readonly FakeNode[],
  canaries: readonly CanaryConfig[],
): Promise<App> {
  const pool = { cluster: "demo", weight: null };
  const app = appOf(
    context,
    configOf({
      clusters: [fixedCluster(nodes, { canaries })],
      pools: [
        { ...pool, name: "w", check: plainCheck("primary"), checkText: "/primary" },
        { ...pool, name: "r", check: plainCheck("replica"), checkText: "/replica" },
      ],
      listen: [whole, admin],
    }),
  );
  await app.start();
  return app;
}

/** The status, the reason and the body of each check. */
async function answersOf(app: App): Promise<readonly string[]> {
  const port = portFor(app, whole);
  return Promise.all(
    paths.map(async (path) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      await response.arrayBuffer();
      const { status, statusText, headers } = response;
      return `${path} ${status} ${statusText} ${headers.get("x-rolecall-reason") ?? "-"}`;
    }),
  );
}

async function statusOf(app: App): Promise<ReturnType<typeof objectOf>> {
  const answer = await fetch(`http://127.0.0.1:${portFor(app, admin)}/status`);
  return objectOf(listOf(objectOf(await answer.json())["clusters"])[0]);
}

/** What the servers behind the canaries do, by what is said of the cluster then. */
const failures: readonly (readonly [title: string, answer: ((sql: string) => FakeAnswer) | null, said: string])[] = [
  ["nothing listens", null, "clients cannot write"],
  ["too many clients", () => ({ sqlState: "53300", message: "too many clients already" }), "clients cannot write"],
  ["the table is missing", () => ({ sqlState: "42P01", message: "no such table" }), "a canary cannot try"],
];

suite("verdicts", { timeout: 60_000 }, () => {
  for (const [title, answer, said] of failures)
    test(`are the same with canaries that fail and without any: ${title}`, async (context) => {
      const nodes = await openFakeCluster(context, names);
      let port = await freePort();
      if (answer !== null) {
        const database = new FakePostgres(answer);
        await database.start();
        context.after(() => database.stop());
        ({ port } = database);
      }
      const failing = await appWith(context, nodes, [canaryAt("w", port), canaryAt("r", port)]);
      const without = await appWith(context, nodes, []);
      await until(said, async () => String(objectOf((await statusOf(failing))["situation"])["wrong"]).startsWith(said));
      assert.equal(objectOf((await statusOf(without))["situation"])["wrong"], null);
      const answers = await answersOf(failing);
      assert.deepEqual(answers, await answersOf(without));
      assert.ok(answers.some((text) => text.startsWith("/nodes/pg1/primary 200 ")));
      for (const node of nodes) node.leader = "pg2";
      const isMoved = async (app: App): Promise<boolean> =>
        (await answersOf(app)).some((text) => text.startsWith("/nodes/pg2/primary 200 "));
      await until("a new primary", async () => (await isMoved(failing)) && (await isMoved(without)));
      await until(
        "the same answers after a switchover",
        async () => JSON.stringify(await answersOf(failing)) === JSON.stringify(await answersOf(without)),
      );
    });
});
