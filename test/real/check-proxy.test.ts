/**
 * `listen rolecall` of a rendered configuration: if every instance ends while a check is in flight, the check gets the
 * 404 that keeps the sessions of its server, and no closed connection.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { ask } from "./lab/ask.ts";
import { balancerPrograms } from "./lab/balancer-programs.ts";
import { Child } from "./lab/child.ts";
import { listenDuringTest } from "../fake/listen.ts";
import { renderClusters } from "../fake/rendered-rows.ts";
import { freePort } from "../fake/rolecall-process.ts";
import { until } from "../fake/until.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-check-proxy-"));
after(() => rmSync(folder, { recursive: true }));

/** An instance that ends on a request with this path. */
const fatalPath = "/fatal";

for (const { kind, title, found } of balancerPrograms()) {
  if (kind !== "haproxy") continue;
  const skip = "notRun" in found ? `not run: ${found.notRun}` : false;
  for (const instances of [1, 2])
    test(`${title}: a check in flight gets a 404 if all instances (${instances}) end`, { skip }, async (context) => {
      if ("notRun" in found) return;
      const checkPort = await startProxy(context, found.path, instances);
      // HAProxy may keep the connection of this check for the next one.
      assert.equal((await ask({ port: checkPort, path: "/clusters/demo/nodes/pg1/primary" })).status, 200);
      const { status } = await ask({ port: checkPort, path: fatalPath });
      assert.equal(status, 404, "0: the connection was closed without a response");
    });
}

/** Starts HAProxy with a rendered configuration in front of so many instances. @returns the port for checks */
async function startProxy(context: TestContext, program: string, instances: number): Promise<number> {
  const edges: number[] = [];
  while (edges.length < instances) edges.push(await startInstance(context));
  const [checkPort, writePort, readPort] = [await freePort(), await freePort(), await freePort()];
  const ports = Object.entries({ check: checkPort, write: writePort, read: readPort });
  const args = [
    ...edges.flatMap((port) => ["--edge", `127.0.0.1:${port}`]),
    ...ports.flatMap(([name, port]) => [`--${name}-port`, String(port)]),
  ];
  const { out } = await renderClusters(folder, { kind: "haproxy", clusters: "three", args });
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, out);
  const haproxy = new Child({ name: "haproxy", command: [program, "-db", "-f", file], folder });
  context.after(() => haproxy.stop("SIGKILL"));
  const wait = { what: "HAProxy with a ready instance", evidence: () => haproxy.tail };
  await until(wait, async () => (await ask({ port: checkPort, path: "/readyz" })).status === 200);
  return checkPort;
}

/** Starts a server with the answers of an instance that keeps connections open. @returns its port */
async function startInstance(context: TestContext): Promise<number> {
  const answer: RequestListener = ({ url }, response) => {
    if (url !== fatalPath) {
      response.writeHead(200, { "X-Rolecall-Node": "pg1" }).end();
      return;
    }
    server.close();
    server.closeAllConnections();
  };
  const server = createServer({ keepAliveTimeout: 60_000 }, answer);
  return listenDuringTest(context, server);
}
