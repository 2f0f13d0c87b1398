import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo, type Server } from "node:net";
import { dirname, join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { App } from "../../../src/app/app.ts";
import { isRunningRolecall } from "../../../src/tools/doctor/running-rolecall.ts";
import { loadConfig } from "../../../src/app/registry/config.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import { selfSignedCertificate } from "../../fake/certificates.ts";
import { openFakeNode } from "../../fake/fake-node.ts";
import { runJson } from "../../fake/command-line.ts";
import { freePort } from "../../fake/free-port.ts";
import { silentLogger } from "../../fake/silent-logger.ts";

/** Starts rolecall with listeners of each kind. */
async function start(context: TestContext): Promise<{ readonly config: Config; readonly file: string }> {
  const node = await openFakeNode({ name: "pg1", holdsLock: true });
  context.after(() => node.close());
  const { certFile, keyFile } = selfSignedCertificate(context);
  const file = join(dirname(certFile), "rolecall.yaml");
  writeFileSync(join(dirname(certFile), "tokens.txt"), "operator:0123456789abcdef0123456789abcdef\n");
  const tls = `tls: { cert: ${certFile}, key: ${keyFile}`;
  const listeners = [
    "dialect: node",
    `dialect: node, ${tls} }`,
    `dialect: node, ${tls}, ca: ${certFile}, client: required }`,
    "dialect: admin, auth: { for: all, bearer: [tokens.txt] }",
    "dialect: node, allow: [10.0.0.0/8], allow_for: all",
    "dialect: exporter, cluster: demo",
    "dialect: agent, cluster: demo",
    "dialect: agent, cluster: demo, node: pg1",
    "dialect: xds",
    `dialect: xds, ${tls}, ca: ${certFile}, client: required }`,
  ];
  const lines = await Promise.all(listeners.map(async (rest) => `  - { port: ${await freePort()}, ${rest} }\n`));
  writeFileSync(
    file,
    `clusters: [{ name: demo, nodes: [{ name: pg1, api: "${node.api}", database: "10.0.0.1:5432" }] }]\nlisten:\n${lines.join("")}log: { level: silent }\n`,
  );
  const loaded = loadConfig({ file, env: {}, flags: {} });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const app = new App(loaded.config, silentLogger);
  context.after(() => app.stop({ drains: false }));
  await app.start();
  return { config: loaded.config, file };
}

describe("doctor beside a running rolecall", () => {
  test("recognises its listeners, whatever they require of clients", async (context) => {
    const { config, file } = await start(context);
    const found = await Promise.all(config.listen.map(isRunningRolecall));
    assert.deepEqual(found, Array(config.listen.length).fill(true));
    const { diagnostics } = await runJson(["doctor", "--config", file, "--haproxy", "/no/such/haproxy"]);
    const listeners = diagnostics.filter(({ rule_id: id }) => id === "RC107");
    assert.equal(listeners.length, config.listen.length);
    assert.deepEqual([...new Set(listeners.map(({ severity }) => severity))], ["info"]);
  });

  test("does not take other programs for one", async (context) => {
    const { config } = await start(context);
    const servers = [
      createHttpServer((_, response) => response.end("hello")),
      createServer((socket) => socket.end("up 100%\n")),
      createServer((socket) => socket.destroy()),
      createServer(() => {}),
    ];
    for (const server of servers) {
      const port = await portOf(server);
      for (const listener of config.listen)
        assert.equal(await isRunningRolecall({ ...listener, address: "127.0.0.1", port }), false);
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
    }
  });
});

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}
