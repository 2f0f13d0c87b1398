import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { App } from "../../src/app/app.ts";
import type { NodeConfig } from "../../src/core/config/model/config.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../fake/config.ts";
import { recordedExporter, serveFakeExporter, type ExporterAnswers, type FakeExporter } from "../fake/fake-exporter.ts";
import { silentLogger } from "../fake/silent-logger.ts";
import { until } from "../fake/until.ts";

interface RunningExporters {
  readonly exporters: readonly FakeExporter[];
  /** Returns `status reason` of a path of the node API. */
  ask(path: string): Promise<string>;
  json(path: string): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** Runs rolecall with exporters only: pg1, pg2 and so on, whose databases listen on 5541, 5542 and so on. */
async function startRolecall(
  exporterSpecs: readonly ExporterAnswers[],
  maxAgeMs: number = 5_500,
): Promise<RunningExporters> {
  const exporters = await Promise.all(exporterSpecs.map(serveFakeExporter));
  const nodes = exporters.map(({ origin }, at): NodeConfig =>
    nodeOf({ name: `pg${at + 1}`, exporter: origin, database: { host: "127.0.0.1", port: 5541 + at } }),
  );
  const config = configOf({ clusters: [clusterOf({ nodes })], listen: [listenerOf({ wholeCluster: true })] });
  // A page counts for three intervals and the timeout: a busy machine must not make it too old.
  const probe = { ...config.probe, intervalMs: 50, metricsIntervalMs: 50, timeoutMs: 3_000, maxAgeMs };
  const app = new App({ ...config, probe }, silentLogger);
  await app.start();
  const origin = `http://127.0.0.1:${app.listeners[0]?.port}`;
  return {
    exporters,
    ask: async (path) => {
      const response = await fetch(origin + path);
      await response.arrayBuffer();
      return `${response.status} ${response.headers.get("x-rolecall-reason") ?? response.headers.get("x-rolecall-node")}`;
    },
    json: async (path) => (await (await fetch(origin + path)).json()) as Record<string, unknown>,
    close: async () => {
      await app.stop({ drains: false });
      await Promise.all(exporters.map((exporter) => exporter.close()));
    },
  };
}

function recorded(family: "pg_exporter" | "postgres_exporter", situation: string): ExporterAnswers[] {
  return ["pg1", "pg2", "pg3"].map((node) => recordedExporter(family, situation, node));
}

for (const family of ["pg_exporter", "postgres_exporter"] as const) {
  suite(
    `what ${family} recorded while a replica had stopped receiving is judged without any cluster manager`,
    async () => {
      const running = await startRolecall(recorded(family, "lagging"));
      after(() => running.close());
      await until("a fit primary", async () => (await running.ask("/nodes/pg1/primary")) === "200 pg1");
      await until("a fit replica", async () => (await running.ask("/nodes/pg3/replica?lag=0")) === "200 pg3");
      const unknownLag = family === "postgres_exporter" ? "503 lag_unknown" : "503 lagging";
      const rows: readonly [path: string, answer: string][] = [
        ["/nodes/pg1/primary", "200 pg1"],
        ["/nodes/pg1/read-write", "200 pg1"],
        ["/nodes/pg1/replica", "503 wrong_role"],
        ["/nodes/pg1/read-only", "200 pg1"],
        ["/nodes/pg1/health", "200 pg1"],
        ["/nodes/pg1/liveness", "200 pg1"],
        ["/nodes/pg2/primary", "503 wrong_role"],
        ["/nodes/pg2/replica", "200 pg2"],
        ["/nodes/pg2/replica?lag=1MB", unknownLag],
        ["/nodes/pg2/replica?lag=1MB&miss=404", unknownLag.replace("503", "404")],
        ["/nodes/pg3/replica?lag=0", "200 pg3"],
        ["/nodes/pg3/replica?min_lsn=0/45193A0", "200 pg3"],
        ["/nodes/pg3/replica?min_lsn=0/45193A1", "503 min_lsn"],
        ["/nodes/pg3/read-only", "200 pg3"],
        ["/primary", "200 pg1"],
        ["/replica?lag=1MB", "200 pg3"],
        ...["leader", "standby-leader", "sync", "quorum", "async"].map((route): [string, string] => [
          `/nodes/pg3/${route}`,
          "503 no_manager",
        ]),
        ["/nodes/pg1/leader", "503 no_manager"],
        ["/nodes/pg1/read-only-sync", "200 pg1"],
        ["/nodes/pg3/read-only-sync", "503 no_manager"],
        ["/nodes/pg3/sync?miss=404", "404 no_manager"],
      ];
      for (const [path, answer] of rows) {
        test(`${path} is ${answer}`, async () => assert.equal(await running.ask(path), answer));
      }

      test("serves a status document with a node's fields", async () => {
        const { state, role, server_version: version, xlog, rolecall } = await running.json("/nodes/pg1/patroni");
        assert.deepEqual(
          { state, role, version, xlog },
          { state: "running", role: "primary", version: 150020, xlog: { location: 72455072 } },
        );
        assert.equal((rolecall as Record<string, unknown>)["node"], "pg1");
      });

      if (family === "pg_exporter") {
        test("computes lag as the difference of two nodes' positions", async () => {
          const { rolecall } = await running.json("/nodes/pg2/patroni");
          assert.equal((rolecall as Record<string, unknown>)["lag_bytes"], 72455072 - 67108864);
        });
      } else {
        test("probes /up less often if an exporter does not have it", async () => {
          const count = (path: string): number => running.exporters[0]?.requestCounts.get(path) ?? 0;
          // More than one request is sent if the first has no response in time, as on a busy machine.
          await until("ten scrapes for each request of /up", () => count("/metrics") > 10 * count("/up"));
          assert.ok(count("/up") > 0);
        });
      }
    },
  );
}

suite("a frozen database whose exporter still answers primary", () => {
  test("is unfit until its metrics show that its clock advances, and again when the metrics stop", async () => {
    const specs = recorded("pg_exporter", "lagging").map((exporter) => ({ ...exporter, isTimeMoving: false }));
    const running = await startRolecall(specs);
    try {
      await until("an unknown primary", async () => (await running.ask("/nodes/pg1/primary")) === "503 unknown");
      await until("five scrapes", () => (running.exporters[0]?.requestCounts.get("/metrics") ?? 0) > 5);
      assert.equal(await running.ask("/nodes/pg1/primary"), "503 unknown");
      for (const exporter of running.exporters) exporter.answers.isTimeMoving = true;
      await until("a fit primary", async () => (await running.ask("/nodes/pg1/primary")) === "200 pg1");
      await until("a fit replica", async () => (await running.ask("/nodes/pg3/replica")) === "200 pg3");
      for (const exporter of running.exporters) exporter.answers.page = null;
      // The maximum age of a page is three intervals and a timeout: 650 ms here.
      await until("a stale primary", async () => (await running.ask("/nodes/pg1/primary")) === "503 stale");
      await until("a stale replica", async () => (await running.ask("/nodes/pg3/replica")) === "503 stale");
    } finally {
      await running.close();
    }
  });
});

suite("exporter responses that are no evidence about the database", () => {
  const rows: readonly [what: string, up: ExporterAnswers["up"], answer: string][] = [
    ["a page of HTML", null, "503 unknown"],
    ["a demand for a password", { status: 401, body: "Unauthorized\n" }, "503 down"],
    ["too many requests", { status: 429, body: "Too Many Requests\n" }, "503 down"],
    ["an internal error", { status: 500, body: "Internal Server Error\n" }, "503 down"],
    ["a redirect", { status: 307, body: "primary" }, "503 down"],
  ];
  for (const [what, up, answer] of rows) {
    test(`${what} leaves an exporter-only node unfit`, async () => {
      const running = await startRolecall([{ up, page: "node_load1 1\n", isTimeMoving: true }]);
      try {
        await until("five scrapes", () => (running.exporters[0]?.requestCounts.get("/metrics") ?? 0) > 5);
        await until(`the answer ${answer}`, async () => (await running.ask("/nodes/pg1/primary")) === answer);
        assert.equal(await running.ask("/nodes/pg1/replica"), answer);
      } finally {
        await running.close();
      }
    });
  }

  test("reads a metrics page of 6 MB as a stream, and rejects one above the limit", async () => {
    const spec = recordedExporter("pg_exporter", "lagging", "pg1");
    const noise = 'pg_table_size_bytes{datname="postgres",relname="some_table_of_many"} 8192\n'.repeat(80_000);
    const running = await startRolecall([{ ...spec, page: `${noise}${spec.page}` }]);
    try {
      await until("a fit primary", async () => (await running.ask("/nodes/pg1/primary")) === "200 pg1");
      const [only] = running.exporters;
      assert.ok(only !== undefined);
      only.answers.page = `${noise.repeat(7)}${spec.page}`;
      await until("a stale primary", async () => (await running.ask("/nodes/pg1/primary")) === "503 stale");
    } finally {
      await running.close();
    }
  });

  test("gives the matching reason if the exporter reports the database as down, starting or unknown", async () => {
    const running = await startRolecall(recorded("pg_exporter", "lagging"));
    try {
      await until("a fit primary", async () => (await running.ask("/nodes/pg1/primary")) === "200 pg1");
      for (const [role, answer] of [
        ["down", "503 down"],
        ["starting", "503 not_running"],
        ["unknown", "503 unknown"],
      ] as const) {
        const first = running.exporters[0];
        assert.ok(first !== undefined);
        first.answers.up = { status: 503, body: role };
        await until(`the answer ${answer}`, async () => (await running.ask("/nodes/pg1/health")) === answer);
        assert.equal(await running.ask("/nodes/pg1/primary"), answer);
      }
    } finally {
      await running.close();
    }
  });

  test("never treats a connection pooler as a primary", async () => {
    const pooler: ExporterAnswers = {
      up: { status: 200, body: "primary" },
      page: 'pg_up 1\npg_version 11800\npgbouncer_list_items{list="pools"} 3\n',
      isTimeMoving: true,
    };
    const running = await startRolecall([pooler]);
    try {
      await until("the answer wrong_role", async () => (await running.ask("/nodes/pg1/primary")) === "503 wrong_role");
      assert.equal(await running.ask("/nodes/pg1/replica"), "503 wrong_role");
      assert.equal(await running.ask("/primary"), "503 none_fit");
    } finally {
      await running.close();
    }
  });
});
