import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { after, suite, test } from "node:test";
import { CertificateAuthority } from "../../fake/certificates.js";
import { sendRequest } from "../../fake/http-request.js";
import { until } from "../../fake/until.js";
import { restart, withListener } from "./listener-fixture.js";
const authority = new CertificateAuthority();
const stranger = new CertificateAuthority("stranger");
const folder = mkdtempSync(join(tmpdir(), "rolecall-tls-"));
const listener = authority.issue("listener");
const client = authority.issue("edge client");
const foreign = stranger.issue("foreign client");
after(() => {
    authority.remove();
    stranger.remove();
    rmSync(folder, { recursive: true });
});
const tls = {
    cert: listener.cert,
    key: listener.key,
    ca: authority.ca,
    minVersion: "TLSv1.2",
    client: "optional",
};
const auth = { for: "unsafe", basic: [], bearer: [], certificate: true };
const trusting = { ca: readFileSync(authority.ca) };
const certified = { ...trusting, cert: readFileSync(client.cert), key: readFileSync(client.key) };
const misled = { ...trusting, cert: readFileSync(foreign.cert), key: readFileSync(foreign.key) };
suite("TLS", () => {
    test("accepts a client certificate of its authority, and rejects another one and none", async () => {
        await withListener({ tls, auth }, async (gateway) => {
            assert.equal((await gateway.request("/nodes/pg1/primary", { tls: trusting })).status, 200);
            assert.equal((await gateway.request("/nodes/pg1/restart", restart({ tls: trusting }))).status, 401);
            assert.equal((await gateway.request("/nodes/pg1/restart", restart({ tls: misled }))).status, 401);
            assert.equal((await gateway.request("/nodes/pg1/restart", restart({ tls: certified }))).status, 200);
            assert.equal((await until("an audit line", () => gateway.logRecords.find(({ msg }) => msg === "management call")))["who"], "certificate edge client");
        });
    });
    test("rejects connections without a client certificate if one is required", async () => {
        await withListener({ tls: { ...tls, client: "required" } }, async (gateway) => {
            await assert.rejects(gateway.request("/nodes/pg1/primary", { tls: trusting }));
            await assert.rejects(gateway.request("/nodes/pg1/primary", { tls: misled }));
            assert.equal((await gateway.request("/nodes/pg1/primary", { tls: certified })).status, 200);
        });
    });
    test("rejects TLS versions below the minimum", async () => {
        await withListener({ tls: { ...tls, minVersion: "TLSv1.3" } }, async (gateway) => {
            await assert.rejects(gateway.request("/nodes/pg1/primary", { tls: { ...trusting, maxVersion: "TLSv1.2" } }));
            assert.equal((await gateway.request("/nodes/pg1/primary", { tls: trusting })).status, 200);
        });
    });
    test("uses a new certificate, and keeps connections that were made with the old one", async () => {
        const [cert, key] = [join(folder, "moving.pem"), join(folder, "moving.key")];
        copyFileSync(listener.cert, cert);
        copyFileSync(listener.key, key);
        await withListener({ tls: { ...tls, cert, key } }, async (gateway) => {
            const port = Number(new URL(gateway.url).port);
            const held = connect({ host: "127.0.0.1", port, ...trusting });
            await new Promise((resolve) => held.once("secureConnect", resolve));
            const renewed = authority.issue("renewed listener");
            copyFileSync(renewed.key, key);
            copyFileSync(renewed.cert, cert);
            await until("the new certificate", () => subjectAt(port).then((name) => (name === "renewed listener" ? true : undefined)));
            held.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
            const [first] = await new Promise((resolve) => held.once("data", (...data) => resolve(data)));
            assert.match(String(first), /^HTTP\/1\.1 200 /);
            held.destroy();
        });
    });
    test("logs a file that became invalid, and uses what was read before", async () => {
        const [cert, key] = [join(folder, "spoilt.pem"), join(folder, "spoilt.key")];
        copyFileSync(listener.cert, cert);
        copyFileSync(listener.key, key);
        await withListener({ tls: { ...tls, cert, key } }, async (gateway) => {
            writeFileSync(cert, "no certificate");
            await until("a line", () => gateway.logRecords.find(({ msg, problem }) => msg === "files of a listener read" && problem !== null));
            assert.equal((await gateway.request("/nodes/pg1/primary", { tls: trusting })).status, 200);
        });
    });
    test("does not answer plain HTTP on a TLS port", async () => {
        await withListener({ tls }, async (gateway) => {
            await assert.rejects(sendRequest(gateway.url.replace("https", "http")));
            assert.equal((await gateway.request("/nodes/pg1/primary", { tls: trusting })).status, 200);
        });
    });
});
function subjectAt(port) {
    return new Promise((resolve, reject) => {
        const socket = connect({ host: "127.0.0.1", port, ...trusting }, () => {
            resolve(String(socket.getPeerCertificate().subject.CN));
            socket.destroy();
        });
        socket.on("error", reject);
    });
}
//# sourceMappingURL=listener-tls.test.js.map