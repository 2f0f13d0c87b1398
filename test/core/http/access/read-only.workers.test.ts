import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { App } from "../../../../src/app/app.ts";
import type { LoadedConfig } from "../../../../src/core/config/load.ts";
import { unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../../../fake/config.ts";
import { openFakeNode } from "../../../fake/fake-node.ts";
import { sendRequest } from "../../../fake/http-request.ts";
import { silentLogger } from "../../../fake/silent-logger.ts";
import { workerCounts } from "../../../fake/worker-counts.ts";

for (const workers of workerCounts) {
  suite(`read_only, with ${workers} workers`, { timeout: 60_000 }, () => {
    test("refuses what changes something, and answers the rest", async (context) => {
      const pg1 = await openFakeNode({ name: "pg1", holdsLock: true });
      const access = { ...unrestrictedAccess, readOnly: true };
      const listen = [
        listenerOf({ dialect: "admin", access }),
        listenerOf({ dialect: "exporter", address: "127.0.0.2", cluster: "demo", access }),
        listenerOf({ dialect: "admin", address: "127.0.0.3" }),
      ];
      const clusters = [clusterOf({ nodes: [nodeOf({ name: "pg1", api: pg1.api })] })];
      const config = configOf({ clusters, listen, workers });
      let reloads = 0;
      const load = (): LoadedConfig => {
        reloads += 1;
        return { ok: true, config, simulator: null, hasNoStateKey: true, warnings: [] };
      };
      const app = new App(config, silentLogger, { source: { file: null, load } });
      context.after(async () => {
        await app.stop({ drains: false });
        await pg1.close();
      });
      await app.start();
      const [admin = "", exporter = "", open = ""] = app.listeners.map(
        (listener) => `http://${listener.config.address}:${listener.port}`,
      );
      const drain = {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: { for: "1min", reason: "test" },
      };
      for (const [url, request] of [
        [`${admin}/drains/demo/pg1`, drain],
        [`${admin}/drains/demo/pg1`, { method: "DELETE" }],
        [`${admin}/metrics`, { method: "POST" }],
        [`${exporter}/reload`, {}],
        [`${exporter}/reload`, { method: "POST" }],
      ] as const) {
        const { status, headers, body } = await sendRequest(url, request);
        assert.deepEqual([status, headers["x-rolecall-reason"]], [403, "read_only"], url);
        assert.match(body, /this listener has read_only: true/);
      }
      assert.equal(reloads, 0);
      for (const path of ["/livez", "/metrics", "/status", "/drains"])
        assert.equal((await sendRequest(`${admin}${path}`)).status, 200, path);
      assert.equal((await sendRequest(`${exporter}/metrics`)).status, 200);
      assert.equal((await sendRequest(`${open}/drains/demo/pg1`, drain)).status, 200);
      const drains = await sendRequest(`${admin}/drains`);
      assert.match(drains.body, /"pg1"/);
    });
  });
}
