import assert from "node:assert/strict";
import { copyFileSync, writeFileSync } from "node:fs";
import { createServer, type ServerOptions } from "node:https";
import { join, dirname } from "node:path";
import { test, type TestContext } from "node:test";
import type { TLSSocket } from "node:tls";
import { App } from "../../src/app/app.ts";
import type { TlsFiles } from "../../src/config/model/config.ts";
import { NodeClient } from "../../src/probe/client/client.ts";
import { readTls, type TlsMaterial } from "../../src/config/tls-material.ts";
import { makeCertificate } from "../fake/certificates.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../fake/config.ts";
import { listen } from "../fake/listening.ts";
import { silence } from "../fake/silence.ts";
import { statusOf } from "../fake/watched.ts";

async function serveTls(
  context: TestContext,
  options: ServerOptions,
): Promise<{ readonly origin: string; readonly served: string[] }> {
  const served: string[] = [];
  const server = createServer(options, (request, response) => {
    const { servername, authorized } = request.socket as TLSSocket & { readonly servername?: string | false };
    served.push(`${String(servername)} ${authorized}`);
    response.end(JSON.stringify(statusOf("pg1", { role: "primary" })));
  });
  server.on("tlsClientError", () => {});
  const port = await listen(context, server);
  return { origin: `https://127.0.0.1:${port}`, served };
}

async function ask(context: TestContext, origin: string, tls: TlsMaterial | null): Promise<string> {
  const client = new NodeClient(origin, { connectTimeoutMs: 2_000, timeoutMs: 5_000 }, tls);
  context.after(() => client.close());
  const reply = await client.get("/leader");
  return "failure" in reply ? reply.failure.kind : String(reply.status);
}

function filesOf(parts: Partial<TlsFiles>): TlsFiles {
  return { ca: null, cert: null, key: null, serverName: null, ...parts };
}

test("a node is trusted by the authority that the configuration names, and by no other", async (context) => {
  const node = makeCertificate(context);
  const other = makeCertificate(context);
  const { origin } = await serveTls(context, node);
  assert.equal(await ask(context, origin, readTls(filesOf({ ca: node.certFile }))), "200");
  assert.equal(await ask(context, origin, readTls(filesOf({ ca: other.certFile }))), "tls");
  assert.equal(await ask(context, origin, null), "tls");
});

test("the name that the configuration gives is the one that is asked for and checked", async (context) => {
  const node = makeCertificate(context, "DNS:db.internal");
  const { origin, served } = await serveTls(context, node);
  assert.equal(await ask(context, origin, readTls(filesOf({ ca: node.certFile, serverName: "db.internal" }))), "200");
  assert.equal(await ask(context, origin, readTls(filesOf({ ca: node.certFile, serverName: "else.internal" }))), "tls");
  assert.equal(await ask(context, origin, readTls(filesOf({ ca: node.certFile }))), "tls");
  assert.deepEqual(served, ["db.internal false"]);
});

test("a node that asks for our certificate gets it", async (context) => {
  const node = makeCertificate(context);
  const edge = makeCertificate(context);
  const { origin, served } = await serveTls(context, {
    ...node,
    ca: edge.cert,
    requestCert: true,
    rejectUnauthorized: true,
  });
  assert.equal(
    await ask(context, origin, readTls(filesOf({ ca: node.certFile, cert: edge.certFile, key: edge.keyFile }))),
    "200",
  );
  assert.match(await ask(context, origin, readTls(filesOf({ ca: node.certFile }))), /^(tls|reset)$/);
  assert.deepEqual(served, ["false true"]);
});

test("files that hold no certificates fail the probe and nothing else", async (context) => {
  const node = makeCertificate(context);
  const { origin } = await serveTls(context, node);
  assert.match(await ask(context, origin, { ca: "nonsense" }), /^(tls|body)$/);
  assert.match(await ask(context, origin, { ca: node.cert, cert: "nonsense", key: "nonsense" }), /^(tls|body)$/);
});

test("a file that cannot be read is an error that names it", () => {
  assert.throws(() => readTls(filesOf({ ca: "/no/such/ca.pem" })), /ENOENT.*\/no\/such\/ca\.pem/);
});

test("plain HTTP where TLS was asked for is a failure of TLS or of the answer", async (context) => {
  const { origin } = await serveTls(context, makeCertificate(context));
  assert.match(await ask(context, origin.replace("https", "http"), null), /^(reset|body)$/);
});

test(
  "an authority's file that changes is read again, one that is missing is told of",
  { timeout: 20_000 },
  async (context) => {
    const node = makeCertificate(context);
    const { origin } = await serveTls(context, node);
    const ca = join(dirname(node.certFile), "ca.pem");
    const tls = filesOf({ ca });
    const config = configOf({
      clusters: [clusterOf({ tls, nodes: [nodeOf({ name: "pg1", api: origin })] })],
      listen: [listenerOf({ wholeCluster: true })],
    });
    const app = new App({ ...config, probe: { ...config.probe, intervalMs: 50, timeoutMs: 500 } }, silence);
    context.after(() => app.stop({ drains: false }));
    await app.start();
    const status = async (): Promise<number> =>
      (await fetch(`http://127.0.0.1:${app.listeners[0]?.port}/primary`)).status;
    assert.equal(await status(), 503);
    writeFileSync(ca, "nonsense");
    copyFileSync(node.certFile, ca);
    while ((await status()) !== 200) await new Promise((resolve) => void setTimeout(resolve, 50));
  },
);
