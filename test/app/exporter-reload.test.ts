import assert from "node:assert/strict";
import { test } from "node:test";
import { App } from "../../src/app/app.ts";
import type { LoadedConfig } from "../../src/core/config/load.ts";
import type { Config } from "../../src/core/config/model/config.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../fake/config.ts";
import { recordedExporter, serveFakeExporter } from "../fake/fake-exporter.ts";
import { silentLogger } from "../fake/silent-logger.ts";
import { until } from "../fake/until.ts";

test("answers checks from kept evidence while an exporter listener reloads the configuration", async () => {
  const exporter = await serveFakeExporter(recordedExporter("pg_exporter", "lagging", "pg1"));
  const plain = configOf({
    clusters: [clusterOf({ nodes: [nodeOf({ name: "pg1", exporter: exporter.origin })] })],
    listen: [listenerOf({ dialect: "exporter", cluster: "demo", node: "pg1" })],
  });
  // The age limit of a page follows from these times: a machine that is busy for a second must not exceed it.
  const config: Config = {
    ...plain,
    probe: { ...plain.probe, intervalMs: 50, metricsIntervalMs: 50, timeoutMs: 10_000 },
  };
  let wanted = config;
  const source = {
    file: "rolecall.yaml",
    load: (): LoadedConfig => ({ ok: true, config: wanted, simulator: null, hasNoStateKey: true, warnings: [] }),
  };
  const app = new App(config, silentLogger, { source });
  await app.start();
  const port = app.listeners[0]?.port ?? 0;
  // Port 0 would be another listener. From here on the configuration has the port of the open one.
  const next: Config = {
    ...config,
    clusters: [
      ...config.clusters,
      clusterOf({ name: "other", nodes: [nodeOf({ name: "px", exporter: "http://127.0.0.1:1" })] }),
    ],
    listen: [...config.listen, listenerOf({ address: "127.0.0.2", dialect: "exporter", cluster: "other" })],
  };
  const failing: Config = { ...next, listen: [...next.listen, listenerOf({ address: "192.0.2.1", dialect: "admin" })] };
  const ask = async (path: string, at = port, host = "127.0.0.1"): Promise<string> => {
    const response = await fetch(`http://${host}:${at}${path}`);
    return `${response.status} ${await response.text()}`;
  };
  try {
    await until("the word primary", async () => (await ask("/primary")) === "200 primary");
    const answers: string[] = [];
    const over = new AbortController();
    const checking = (async () => {
      while (!over.signal.aborted) answers.push(await ask("/primary"));
    })();
    wanted = next;
    assert.equal(await ask("/reload"), "200 server reloaded");
    wanted = failing;
    assert.match(await ask("/reload"), /^500 fail to reload: .*192\.0\.2\.1/);
    over.abort();
    await checking;
    assert.deepEqual(new Set(answers), new Set(["200 primary"]));
    const other = app.listeners.find(({ config: { address } }) => address === "127.0.0.2");
    assert.equal(app.listeners.length, 2);
    assert.match(await ask("/up", other?.port, "127.0.0.2"), /^503 (unknown|down)$/);
    assert.match(await ask("/stat"), /^200 name .*\ndemo\.pg1\.up /);
    assert.match(await ask("/explain"), /# {7}Source {5}rolecall\.yaml/);
  } finally {
    await app.stop({ drains: false });
    await exporter.close();
  }
});
