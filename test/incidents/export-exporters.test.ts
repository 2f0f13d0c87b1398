import assert from "node:assert/strict";
import { test } from "node:test";
import { App } from "../../src/app/app.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../fake/config.ts";
import { recordedExporter, serveFakeExporter, type ExporterAnswers } from "../fake/fake-exporter.ts";
import { silentLogger } from "../fake/silent-logger.ts";
import { assertReplayed, seen } from "./replayed.ts";

const names = ["pg1", "pg2", "pg3"];
const checks = [
  "/primary",
  "/replica",
  "/replica?lag=1MB",
  "/read-only",
  "/readiness",
  "/health",
  "/liveness",
  "/leader?miss=404",
];
const questions = names.flatMap((node) => checks.map((check) => `${node} ${check}`));

/** The reports of the three exporters, and the operator's calls on the admin listener. */
interface Stage {
  readonly exporters: { readonly pg1: ExporterAnswers; readonly pg2: ExporterAnswers; readonly pg3: ExporterAnswers };
  readonly drain: (method: "POST" | "DELETE", node: string) => Promise<void>;
}

/** An event, and the answer that shows that rolecall has seen it. */
const scenes: readonly { readonly act: (stage: Stage) => unknown; readonly until: string }[] = [
  { act: () => {}, until: "pg3 /replica?lag=1MB: 200 fit" },
  { act: ({ drain }) => drain("POST", "pg3"), until: "pg3 /replica: 503 drained" },
  {
    act: ({ exporters }) => (exporters.pg2.up = { status: 500, body: "Internal Server Error\n" }),
    until: "pg2 /replica: 503 down",
  },
  { act: ({ exporters }) => (exporters.pg2.up = { status: 200, body: "replica" }), until: "pg2 /health: 200 fit" },
  { act: ({ exporters }) => (exporters.pg1.up = { status: 503, body: "down" }), until: "pg1 /primary: 503 down" },
  {
    act: ({ exporters }) => Object.assign(exporters.pg2, recordedExporter("pg_exporter", "lagging", "pg1")),
    until: "pg2 /primary: 200 fit",
  },
  { act: ({ exporters }) => (exporters.pg2.isTimeMoving = false), until: "pg2 /primary: 503 stale" },
  { act: ({ drain }) => drain("DELETE", "pg3"), until: "pg3 /replica: 200 fit" },
];

test("an incident of nodes that are known through exporters, with a drain, gives the answers that were given at the time", async () => {
  const [pg1, pg2, pg3] = await Promise.all(
    names.map((name) => serveFakeExporter(recordedExporter("pg_exporter", "lagging", name))),
  );
  assert.ok(pg1 !== undefined && pg2 !== undefined && pg3 !== undefined);
  const nodes = [pg1, pg2, pg3].map(({ origin }, at) =>
    nodeOf({ name: `pg${at + 1}`, exporter: origin, database: { host: "127.0.0.1", port: 5541 + at } }),
  );
  const config = configOf({
    clusters: [clusterOf({ nodes })],
    listen: [listenerOf({ operatorPages: true }), listenerOf({ dialect: "admin" })],
  });
  const app = new App(
    { ...config, probe: { ...config.probe, intervalMs: 50, metricsIntervalMs: 100, timeoutMs: 500 } },
    silentLogger,
  );
  try {
    await app.start();
    const [base = "", admin = ""] = ["node", "admin"].map(
      (dialect) => `http://127.0.0.1:${app.listeners.find((listener) => listener.config.dialect === dialect)?.port}`,
    );
    const drain = async (method: string, node: string): Promise<void> => {
      const body = JSON.stringify(method === "POST" ? { for: "30min", reason: "disk swap", by: "operator" } : {});
      const { status } = await fetch(`${admin}/drains/demo/${node}`, {
        method,
        body,
        headers: { "Content-Type": "application/json" },
      });
      assert.equal(status, 200);
    };
    for (const { act, until } of scenes) {
      await act({ exporters: { pg1: pg1.answers, pg2: pg2.answers, pg3: pg3.answers }, drain });
      await seen(base, until);
      await assertReplayed(base, questions);
    }
  } finally {
    await app.stop({ drains: false });
    await Promise.all([pg1, pg2, pg3].map((exporter) => exporter.close()));
  }
});
