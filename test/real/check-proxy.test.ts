/**
 * `listen rolecall` of a rendered configuration: if all instances terminate while a check is in flight, the check gets
 * a 404, which keeps the sessions of its server, instead of a connection that is closed without a response.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { ask } from "./lab/ask.ts";
import { balancerPrograms } from "./lab/balancer-programs.ts";
import { Child } from "./lab/child.ts";
import { listenDuringTest } from "../fake/listen.ts";
import { renderClusters } from "../fake/rendered-rows.ts";
import { freePort } from "../fake/free-port.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { until } from "../fake/until.ts";

const folder = temporaryFolder("check-proxy");

/** A request for this path terminates the instance. */
const fatalPath = "/fatal";

for (const { kind, title, found } of balancerPrograms()) {
  if (kind !== "haproxy") continue;
  const skip = "notRun" in found ? `not run: ${found.notRun}` : false;
  for (const instances of [1, 2])
    test(
      `${title}: a check in flight gets a 404 if all instances (${instances}) terminate`,
      { skip },
      async (context) => {
        if ("notRun" in found) return;
        const checkPort = await startProxy(context, found.path, instances);
        // Without `http-reuse never`, HAProxy could reuse the connection of this check for the next one.
        assert.equal((await ask({ port: checkPort, path: "/clusters/demo/nodes/pg1/primary" })).status, 200);
        const { status } = await ask({ port: checkPort, path: fatalPath });
        assert.equal(status, 404, `expected 404, got ${status} (0: no response)`);
      },
    );
}

/** Starts HAProxy with a rendered configuration in front of some instances. @returns the port for checks */
async function startProxy(context: TestContext, program: string, instances: number): Promise<number> {
  const edges: number[] = [];
  while (edges.length < instances) edges.push(await startInstance(context));
  const [checkPort, writePort, readPort] = [await freePort(), await freePort(), await freePort()];
  const ports = Object.entries({ check: checkPort, write: writePort, read: readPort });
  const args = [
    "--bare",
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

/** Starts a stand-in for an instance, which keeps connections open. @returns its port */
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
