import { spawn } from "node:child_process";
import assert from "node:assert/strict";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type ServerOptions } from "node:https";
import { join, dirname } from "node:path";
import { test, type TestContext } from "node:test";
import type { TLSSocket } from "node:tls";
import { App } from "../../../../src/app/app.ts";
import type { TlsFiles } from "../../../../src/core/config/model/config.ts";
import { unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { NodeClient } from "../../../../src/core/probe/client/client.ts";
import { readTls, type TlsMaterial } from "../../../../src/core/config/tls-material.ts";
import { tlsAction } from "../../../../src/core/cluster/values/tls-trouble.ts";
import { expiredCopyOf, selfSignedCertificate } from "../../../fake/certificates.ts";
import { clusterOf, configOf, guardsOff, listenerOf, nodeOf } from "../../../fake/config.ts";
import { listenDuringTest } from "../../../fake/listen.ts";
import { silentLogger } from "../../../fake/silent-logger.ts";
import { until } from "../../../fake/until.ts";
import { statusDocument } from "../../../fake/node-documents.ts";

async function serveTls(
  context: TestContext,
  options: ServerOptions,
): Promise<{ readonly origin: string; readonly served: string[] }> {
  const served: string[] = [];
  const server = createServer(options, (request, response) => {
    const { servername, authorized } = request.socket as TLSSocket & { readonly servername?: string | false };
    served.push(`${String(servername)} ${authorized}`);
    response.end(JSON.stringify(statusDocument("pg1", { role: "primary" })));
  });
  server.on("tlsClientError", () => {});
  const port = await listenDuringTest(context, server);
  return { origin: `https://127.0.0.1:${port}`, served };
}

async function probe(context: TestContext, origin: string, tls: TlsMaterial | null): Promise<string> {
  const client = new NodeClient(origin, { connectTimeoutMs: 2_000, timeoutMs: 5_000 }, tls);
  context.after(() => client.close());
  const reply = await client.get("/leader");
  return "failure" in reply ? reply.failure.kind : String(reply.status);
}

function filesOf(parts: Partial<TlsFiles>): TlsFiles {
  return { ca: null, cert: null, key: null, serverName: null, verify: "full", ...parts };
}

test("trusts a node by the configured CA, and by no other", async (context) => {
  const node = selfSignedCertificate(context);
  const other = selfSignedCertificate(context);
  const { origin } = await serveTls(context, node);
  assert.equal(await probe(context, origin, readTls(filesOf({ ca: node.certFile }))), "200");
  assert.equal(await probe(context, origin, readTls(filesOf({ ca: other.certFile }))), "tls");
  assert.equal(await probe(context, origin, null), "tls");
});

test("with verify: chain any name is accepted, and a certificate of another CA is not", async (context) => {
  const node = selfSignedCertificate(context, "DNS:db.internal");
  const other = selfSignedCertificate(context, "DNS:db.internal");
  const { origin } = await serveTls(context, node);
  const verifying = (ca: string, verify: TlsFiles["verify"], serverName: string | null = null): TlsMaterial =>
    readTls(filesOf({ ca, verify, serverName }));
  assert.equal(await probe(context, origin, verifying(node.certFile, "full")), "tls");
  assert.equal(await probe(context, origin, verifying(node.certFile, "chain")), "200");
  assert.equal(await probe(context, origin, verifying(node.certFile, "chain", "else.internal")), "200");
  assert.equal(await probe(context, origin, verifying(other.certFile, "chain")), "tls");
  assert.equal(await probe(context, origin, readTls(filesOf({ verify: "chain" }))), "tls");
});

for (const version of ["-tls1_2", "-tls1_3"])
  test(`a node that requires a client certificate is said so in words, with ${version}`, async (context) => {
    const { certFile, keyFile } = selfSignedCertificate(context);
    // OpenSSL refuses as Patroni does: with an alert. A server of Node closes the connection without one.
    const files = `-cert ${certFile} -key ${keyFile} -CAfile ${certFile}`;
    const server = spawn("openssl", `s_server -accept 127.0.0.1:0 -Verify 1 -www ${version} ${files}`.split(" "));
    context.after(() => server.kill());
    let printed = "";
    server.stdout.on("data", (text: Buffer) => (printed += text.toString()));
    await until("a port", () => /ACCEPT .*:\d+/.test(printed));
    const [, port] = /ACCEPT .*:(\d+)/.exec(printed) ?? [];
    const tls = readTls(filesOf({ ca: certFile }));
    const client = new NodeClient(`https://127.0.0.1:${port}`, { connectTimeoutMs: 2_000, timeoutMs: 5_000 }, tls);
    context.after(() => client.close());
    const reply = await client.get("/leader");
    assert.ok("failure" in reply);
    assert.equal(reply.failure.kind, "tls", reply.failure.detail);
    assert.match(reply.failure.detail, /client certificate, tls\.cert and tls\.key \(ERR_SSL_/);
  });

/** What is wrong with the certificate of a node, what is said of it at the second probe, and what there is to do. */
const refusedCertificates: readonly (readonly [
  what: string,
  served: (context: TestContext) => { readonly cert: string; readonly key: string; readonly ca: string | null },
  says: RegExp,
  action: RegExp,
])[] = [
  [
    "is of an authority that rolecall does not know",
    (context) => ({ ...selfSignedCertificate(context), ca: null }),
    /^certificate not trusted, its authority is private or unknown: /,
    /^Give rolecall the authority that signed the certificate of pg1: `tls\.ca` of the cluster, or --node-ca FILE/,
  ],
  [
    "has expired",
    (context) => {
      const issued = selfSignedCertificate(context);
      const expired = expiredCopyOf(issued);
      return { cert: readFileSync(expired, "utf8"), key: issued.key, ca: expired };
    },
    /^the certificate of the node has expired \(valid from \S+ to 20\d\d-\S+Z\)$/,
    /^Renew the certificate of pg1 \(`restapi\.certfile` of its Patroni\), and reload Patroni there$/,
  ],
  [
    "is for another name",
    (context) => {
      const issued = selfSignedCertificate(context, "DNS:db.internal");
      return { ...issued, ca: issued.certFile };
    },
    /^the certificate of the node is for another name \(Hostname\/IP does not match certificate's altnames: .*127\.0\.0\.1/,
    /^Issue a certificate for the address by which pg1 is reached, or set `tls\.server_name`/,
  ],
];

for (const [what, serve, says, action] of refusedCertificates)
  test(`the certificate of a node ${what}: the cause and what to do`, async (context) => {
    const { cert, key, ca } = serve(context);
    const { origin } = await serveTls(context, { cert, key });
    const tls = ca === null ? null : readTls(filesOf({ ca }));
    const client = new NodeClient(origin, { connectTimeoutMs: 2_000, timeoutMs: 5_000 }, tls);
    context.after(() => client.close());
    const failure = await until("the whole cause", async () => {
      const reply = await client.get("/leader");
      assert.ok("failure" in reply);
      assert.equal(reply.failure.kind, "tls");
      return says.test(reply.failure.detail) ? reply.failure : undefined;
    });
    assert.match(tlsAction(failure, "pg1") ?? "", action);
  });

test("a client certificate that has expired, or whose authority the node does not know: which one, and what to do", async (context) => {
  const node = selfSignedCertificate(context);
  const own = selfSignedCertificate(context);
  const expired = expiredCopyOf(node);
  for (const [cert, trusted, action] of [
    [expired, expired, /^Renew the client certificate, `tls\.cert` of the cluster/],
    [own.certFile, node.certFile, /^(?:Sign|Compare) `tls\.cert` of the cluster/],
  ] as const) {
    const files = `-cert ${node.certFile} -key ${node.keyFile} -CAfile ${trusted}`;
    const args = `s_server -accept 127.0.0.1:0 -Verify 1 -verify_return_error -www ${files}`;
    const server = spawn("openssl", args.split(" "));
    context.after(() => server.kill());
    let printed = "";
    server.stdout.on("data", (text: Buffer) => (printed += text.toString()));
    await until("a port", () => /ACCEPT .*:\d+/.test(printed));
    const [, port] = /ACCEPT .*:(\d+)/.exec(printed) ?? [];
    const tls = readTls(filesOf({ ca: node.certFile, cert, key: cert === own.certFile ? own.keyFile : node.keyFile }));
    const client = new NodeClient(`https://127.0.0.1:${port}`, { connectTimeoutMs: 2_000, timeoutMs: 5_000 }, tls);
    context.after(() => client.close());
    const reply = await client.get("/leader");
    assert.ok("failure" in reply);
    assert.match(tlsAction(reply.failure, "pg1") ?? reply.failure.detail, action);
  }
});

test("sends and verifies the configured server name", async (context) => {
  const node = selfSignedCertificate(context, "DNS:db.internal");
  const { origin, served } = await serveTls(context, node);
  assert.equal(await probe(context, origin, readTls(filesOf({ ca: node.certFile, serverName: "db.internal" }))), "200");
  assert.equal(
    await probe(context, origin, readTls(filesOf({ ca: node.certFile, serverName: "else.internal" }))),
    "tls",
  );
  assert.equal(await probe(context, origin, readTls(filesOf({ ca: node.certFile }))), "tls");
  assert.deepEqual(served, ["db.internal false"]);
});

test("sends our client certificate to a node that requests one", async (context) => {
  const node = selfSignedCertificate(context);
  const edge = selfSignedCertificate(context);
  const { origin, served } = await serveTls(context, {
    ...node,
    ca: edge.cert,
    requestCert: true,
    rejectUnauthorized: true,
  });
  assert.equal(
    await probe(context, origin, readTls(filesOf({ ca: node.certFile, cert: edge.certFile, key: edge.keyFile }))),
    "200",
  );
  assert.match(await probe(context, origin, readTls(filesOf({ ca: node.certFile }))), /^(tls|reset)$/);
  assert.deepEqual(served, ["false true"]);
});

test("files without certificates fail the probe and nothing else", async (context) => {
  const node = selfSignedCertificate(context);
  const { origin } = await serveTls(context, node);
  assert.match(await probe(context, origin, { ca: "nonsense" }), /^(tls|body)$/);
  assert.match(await probe(context, origin, { ca: node.cert, cert: "nonsense", key: "nonsense" }), /^(tls|body)$/);
});

test("an unreadable file is an error that names it", () => {
  assert.throws(() => readTls(filesOf({ ca: "/no/such/ca.pem" })), /ENOENT.*\/no\/such\/ca\.pem/);
});

test("plain HTTP to a TLS port fails as reset or body", async (context) => {
  const { origin } = await serveTls(context, selfSignedCertificate(context));
  assert.match(await probe(context, origin.replace("https", "http"), null), /^(reset|body)$/);
});

test("a node's own server name counts for probes and passed calls, and the cluster's for all other nodes", async (context) => {
  const named = selfSignedCertificate(context, "DNS:pg1.internal");
  const other = selfSignedCertificate(context, "DNS:db.internal");
  const [first, second] = [await serveTls(context, named), await serveTls(context, other)];
  const ca = join(dirname(named.certFile), "both.pem");
  writeFileSync(ca, `${named.cert}\n${other.cert}`);
  const nodes = [
    nodeOf({ name: "pg1", api: first.origin, serverName: "pg1.internal" }),
    nodeOf({ name: "pg2", api: second.origin }),
  ];
  const config = configOf({
    clusters: [clusterOf({ tls: filesOf({ ca, serverName: "db.internal" }), nodes, guards: guardsOff })],
    listen: [listenerOf({ cluster: "demo", access: { ...unrestrictedAccess, management: true } })],
  });
  const app = new App(config, silentLogger);
  context.after(() => app.stop({ drains: false }));
  await app.start();
  const status = async (path: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${app.listeners[0]?.port}${path}`)).status;
  for (const node of ["pg1", "pg2"]) {
    assert.equal(await status(`/nodes/${node}/health`), 200, node);
    assert.equal(await status(`/nodes/${node}/metrics`), 200, node);
  }
  assert.deepEqual(
    [new Set(first.served), new Set(second.served)],
    [new Set(["pg1.internal false"]), new Set(["db.internal false"])],
  );
});

test("reads a changed CA file again", { timeout: 20_000 }, async (context) => {
  const node = selfSignedCertificate(context);
  const { origin } = await serveTls(context, node);
  const ca = join(dirname(node.certFile), "ca.pem");
  const tls = filesOf({ ca });
  const config = configOf({
    clusters: [clusterOf({ tls, nodes: [nodeOf({ name: "pg1", api: origin })] })],
    listen: [listenerOf({ wholeCluster: true })],
  });
  const app = new App({ ...config, probe: { ...config.probe, intervalMs: 50, timeoutMs: 500 } }, silentLogger);
  context.after(() => app.stop({ drains: false }));
  await app.start();
  const status = async (): Promise<number> =>
    (await fetch(`http://127.0.0.1:${app.listeners[0]?.port}/primary`)).status;
  assert.equal(await status(), 503);
  writeFileSync(ca, "nonsense");
  copyFileSync(node.certFile, ca);
  await until("a yes with the new CA", async () => (await status()) === 200);
});
