import assert from "node:assert/strict";
import { copyFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join, dirname } from "node:path";
import { test } from "node:test";
import { App } from "../../../src/app/app.js";
import { NodeClient } from "../../../src/probe/client/client.js";
import { readTls } from "../../../src/config/tls-material.js";
import { selfSignedCertificate } from "../../fake/certificates.js";
import { clusterOf, configOf, listenerOf, nodeOf } from "../../fake/config.js";
import { listenDuringTest } from "../../fake/listen.js";
import { silentLogger } from "../../fake/silent-logger.js";
import { until } from "../../fake/until.js";
import { statusDocument } from "../../fake/node-documents.js";
async function serveTls(context, options) {
    const served = [];
    const server = createServer(options, (request, response) => {
        const { servername, authorized } = request.socket;
        served.push(`${String(servername)} ${authorized}`);
        response.end(JSON.stringify(statusDocument("pg1", { role: "primary" })));
    });
    server.on("tlsClientError", () => { });
    const port = await listenDuringTest(context, server);
    return { origin: `https://127.0.0.1:${port}`, served };
}
async function probe(context, origin, tls) {
    const client = new NodeClient(origin, { connectTimeoutMs: 2_000, timeoutMs: 5_000 }, tls);
    context.after(() => client.close());
    const reply = await client.get("/leader");
    return "failure" in reply ? reply.failure.kind : String(reply.status);
}
function filesOf(parts) {
    return { ca: null, cert: null, key: null, serverName: null, ...parts };
}
test("trusts a node by the configured CA, and by no other", async (context) => {
    const node = selfSignedCertificate(context);
    const other = selfSignedCertificate(context);
    const { origin } = await serveTls(context, node);
    assert.equal(await probe(context, origin, readTls(filesOf({ ca: node.certFile }))), "200");
    assert.equal(await probe(context, origin, readTls(filesOf({ ca: other.certFile }))), "tls");
    assert.equal(await probe(context, origin, null), "tls");
});
test("sends and verifies the configured server name", async (context) => {
    const node = selfSignedCertificate(context, "DNS:db.internal");
    const { origin, served } = await serveTls(context, node);
    assert.equal(await probe(context, origin, readTls(filesOf({ ca: node.certFile, serverName: "db.internal" }))), "200");
    assert.equal(await probe(context, origin, readTls(filesOf({ ca: node.certFile, serverName: "else.internal" }))), "tls");
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
    assert.equal(await probe(context, origin, readTls(filesOf({ ca: node.certFile, cert: edge.certFile, key: edge.keyFile }))), "200");
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
    const status = async () => (await fetch(`http://127.0.0.1:${app.listeners[0]?.port}/primary`)).status;
    assert.equal(await status(), 503);
    writeFileSync(ca, "nonsense");
    copyFileSync(node.certFile, ca);
    await until("a yes with the new CA", async () => (await status()) === 200);
});
//# sourceMappingURL=tls.test.js.map