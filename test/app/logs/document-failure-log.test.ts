import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { App } from "../../../src/app/app.ts";
import { clusterOf, configOf, nodeOf } from "../../fake/config.ts";
import { openFakeNode } from "../../fake/fake-node.ts";
import { until } from "../../fake/until.ts";

test("logs documents of another scope, and failed requests for documents, once per episode", async (context) => {
  const requested = new Map<string, number>();
  const node = await openFakeNode({
    name: "pg1",
    holdsLock: true,
    handler: (request, response) => {
      const path = request.url ?? "";
      requested.set(path, (requested.get(path) ?? 0) + 1);
      const patroni = { version: "4.1.4", scope: "demo", name: "pg1" };
      const members = [
        { name: "pg1", role: "leader", state: "running", api_url: `http://${request.headers.host}/patroni` },
      ];
      if (path === "/leader") response.end(JSON.stringify({ state: "running", role: "primary", timeline: 1, patroni }));
      else if (path === "/cluster") response.end(JSON.stringify({ scope: "other", members }));
      else response.writeHead(500).end();
    },
  });
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { base: null },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const config = configOf({ clusters: [clusterOf({ nodes: [nodeOf({ name: "pg1", api: node.api })] })] });
  const app = new App(
    { ...config, probe: { ...config.probe, intervalMs: 20, clusterIntervalMs: 20, configIntervalMs: 20 } },
    log,
  );
  context.after(() => node.close());
  try {
    await app.start();
    // After a failure of /config all documents pause for ten seconds, but not before /cluster was fetched more than
    // once.
    await until(
      "requests for both documents",
      async () => (requested.get("/cluster") ?? 0) > 1 && (requested.get("/config") ?? 0) > 0,
    );
  } finally {
    await app.stop({ drains: false });
  }
  const logged = lines.filter(({ msg }) => String(msg).includes("document"));
  assert.deepEqual(
    logged.map(({ msg, level, cluster, node: name, scope, wanted, document, failure }) => ({
      msg,
      level,
      cluster,
      name,
      scope,
      wanted,
      document,
      failure,
    })),
    [
      {
        msg: "cluster document of another scope ignored",
        level: 40,
        cluster: "demo",
        name: "pg1",
        scope: "other",
        wanted: "demo",
        document: undefined,
        failure: undefined,
      },
      {
        msg: "failed to fetch a cluster document",
        level: 40,
        cluster: "demo",
        name: "pg1",
        scope: undefined,
        wanted: undefined,
        document: "config",
        failure: "status",
      },
    ],
  );
});
