import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { App } from "../../src/app/app.ts";
import type { NodeConfig } from "../../src/config/model/config.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../fake/config.ts";
import { recordedExporter, serveExporter, type FakeExporter, type RunningExporter } from "../fake/exporter.ts";
import { silence } from "../fake/silence.ts";
import { until } from "../fake/until.ts";

interface Stage {
  readonly exporters: readonly RunningExporter[];
  /** `status reason` of a path of the node dialect. */
  ask(path: string): Promise<string>;
  json(path: string): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** Runs rolecall over exporters alone: pg1, pg2 and so on, whose databases listen on 5541, 5542 and so on. */
async function stage(said: readonly FakeExporter[], maxAgeMs: number = 5_500): Promise<Stage> {
  const exporters = await Promise.all(said.map(serveExporter));
  const nodes = exporters.map(({ origin }, at): NodeConfig =>
    nodeOf({ name: `pg${at + 1}`, exporter: origin, database: { host: "127.0.0.1", port: 5541 + at } }),
  );
  const config = configOf({ clusters: [clusterOf({ nodes })], listen: [listenerOf({ wholeCluster: true })] });
  const probe = { ...config.probe, intervalMs: 50, metricsIntervalMs: 50, timeoutMs: 500, maxAgeMs };
  const app = new App({ ...config, probe }, silence);
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

function recorded(family: "pg_exporter" | "postgres_exporter", situation: string): FakeExporter[] {
  return ["pg1", "pg2", "pg3"].map((node) => recordedExporter(family, situation, node));
}

for (const family of ["pg_exporter", "postgres_exporter"] as const) {
  suite(
    `what ${family} recorded while a replica had stopped receiving is judged without any cluster manager`,
    async () => {
      const running = await stage(recorded(family, "lagging"));
      after(() => running.close());
      await until(async () => (await running.ask("/nodes/pg1/primary")) === "200 pg1");
      await until(async () => (await running.ask("/nodes/pg3/replica?lag=0")) === "200 pg3");
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

      test("the document is in a node's words", async () => {
        const { state, role, server_version: version, xlog, rolecall } = await running.json("/nodes/pg1/patroni");
        assert.deepEqual(
          { state, role, version, xlog },
          { state: "running", role: "primary", version: 150020, xlog: { location: 72455072 } },
        );
        assert.equal((rolecall as Record<string, unknown>)["node"], "pg1");
      });

      if (family === "pg_exporter") {
        test("the lag is the distance of two nodes' positions", async () => {
          const { rolecall } = await running.json("/nodes/pg2/patroni");
          assert.equal((rolecall as Record<string, unknown>)["lag_bytes"], 72455072 - 67108864);
        });
      } else {
        test("an exporter without /up is not asked for it again and again", async () => {
          await until(() => Promise.resolve((running.exporters[0]?.asked.get("/metrics") ?? 0) > 10));
          assert.equal(running.exporters[0]?.asked.get("/up"), 1);
        });
      }
    },
  );
}

suite("a frozen database, whose exporter's /up goes on saying primary", () => {
  test("has no yes until a page shows that its own time moves, and loses it when pages stop", async () => {
    const said = recorded("pg_exporter", "lagging").map((exporter) => ({ ...exporter, isTimeMoving: false }));
    const running = await stage(said);
    try {
      await until(async () => (await running.ask("/nodes/pg1/primary")) === "503 unknown");
      await until(() => Promise.resolve((running.exporters[0]?.asked.get("/metrics") ?? 0) > 5));
      assert.equal(await running.ask("/nodes/pg1/primary"), "503 unknown");
      for (const exporter of running.exporters) exporter.said.isTimeMoving = true;
      await until(async () => (await running.ask("/nodes/pg1/primary")) === "200 pg1");
      await until(async () => (await running.ask("/nodes/pg3/replica")) === "200 pg3");
      for (const exporter of running.exporters) exporter.said.page = null;
      // A page may be three intervals and a timeout old: 650 ms here.
      await until(async () => (await running.ask("/nodes/pg1/primary")) === "503 stale");
      await until(async () => (await running.ask("/nodes/pg3/replica")) === "503 stale");
    } finally {
      await running.close();
    }
  });
});

suite("what is no word on the database", () => {
  const rows: readonly [what: string, up: FakeExporter["up"], answer: string][] = [
    ["a page of HTML", null, "503 unknown"],
    ["a demand for a password", { status: 401, body: "Unauthorized\n" }, "503 down"],
    ["too many requests", { status: 429, body: "Too Many Requests\n" }, "503 down"],
    ["an internal error", { status: 500, body: "Internal Server Error\n" }, "503 down"],
    ["a redirect", { status: 307, body: "primary" }, "503 down"],
  ];
  for (const [what, up, answer] of rows) {
    test(`${what} leaves an exporter-only node without a yes`, async () => {
      const running = await stage([{ up, page: "node_load1 1\n", isTimeMoving: true }]);
      try {
        await until(() => Promise.resolve((running.exporters[0]?.asked.get("/metrics") ?? 0) > 5));
        await until(async () => (await running.ask("/nodes/pg1/primary")) === answer);
        assert.equal(await running.ask("/nodes/pg1/replica"), answer);
      } finally {
        await running.close();
      }
    });
  }

  test("a page of 6 MB is read as it comes in, and one past all bounds is no page", async () => {
    const said = recordedExporter("pg_exporter", "lagging", "pg1");
    const noise = 'pg_table_size_bytes{datname="postgres",relname="some_table_of_many"} 8192\n'.repeat(80_000);
    const running = await stage([{ ...said, page: `${noise}${said.page}` }]);
    try {
      await until(async () => (await running.ask("/nodes/pg1/primary")) === "200 pg1");
      const [only] = running.exporters;
      assert.ok(only !== undefined);
      only.said.page = `${noise.repeat(7)}${said.page}`;
      await until(async () => (await running.ask("/nodes/pg1/primary")) === "503 stale");
    } finally {
      await running.close();
    }
  });

  test("a database that is down, starting or unknown to its exporter is refused as what it is", async () => {
    const running = await stage(recorded("pg_exporter", "lagging"));
    try {
      await until(async () => (await running.ask("/nodes/pg1/primary")) === "200 pg1");
      for (const [word, answer] of [
        ["down", "503 down"],
        ["starting", "503 not_running"],
        ["unknown", "503 unknown"],
      ] as const) {
        const first = running.exporters[0];
        assert.ok(first !== undefined);
        first.said.up = { status: 503, body: word };
        await until(async () => (await running.ask("/nodes/pg1/health")) === answer);
        assert.equal(await running.ask("/nodes/pg1/primary"), answer);
      }
    } finally {
      await running.close();
    }
  });

  test("a pooler is never taken for a primary, whatever its exporter says", async () => {
    const pooler: FakeExporter = {
      up: { status: 200, body: "primary" },
      page: 'pg_up 1\npg_version 11800\npgbouncer_list_items{list="pools"} 3\n',
      isTimeMoving: true,
    };
    const running = await stage([pooler]);
    try {
      await until(async () => (await running.ask("/nodes/pg1/primary")) === "503 wrong_role");
      assert.equal(await running.ask("/nodes/pg1/replica"), "503 wrong_role");
      assert.equal(await running.ask("/primary"), "503 none_fit");
    } finally {
      await running.close();
    }
  });
});
