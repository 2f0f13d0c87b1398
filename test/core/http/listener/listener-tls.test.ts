import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect } from "node:tls";
import { after, suite, test } from "node:test";
import { CertificateAuthority } from "../../../fake/certificates.ts";
import { sendRequest } from "../../../fake/http-request.ts";
import { until } from "../../../fake/until.ts";
import { restart, withListener } from "./listener-fixture.ts";

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
} as const;
const auth = { for: "unsafe", basic: [], bearer: [], certificate: true } as const;
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
      assert.equal(
        (await until("an audit line", () => gateway.logRecords.find(({ msg }) => msg === "management call")))["who"],
        "certificate edge client",
      );
    });
  });
  test("refuses connections without a valid client certificate in words if one is required", async () => {
    await withListener({ tls: { ...tls, client: "required" } }, async (gateway) => {
      for (const [given, reason] of [
        [trusting, "no_client_certificate"],
        [misled, "bad_client_certificate"],
      ] as const) {
        for (const [path, method] of [
          ["/nodes/pg1/primary", "GET"],
          ["/nodes/pg1/restart", "POST"],
        ] as const) {
          const { status, headers, body } = await gateway.request(path, { method, tls: given });
          assert.deepEqual([status, headers["x-rolecall-reason"]], [400, reason]);
          assert.match(body, /client certificate/);
        }
        const line = await until("a line", () => gateway.logRecords.find((record) => record["reason"] === reason));
        assert.equal(line["msg"], "request rejected");
      }
      assert.equal(gateway.logRecords.filter(({ msg }) => msg === "management call").length, 0);
      assert.equal((await gateway.request("/nodes/pg1/primary", { tls: certified })).status, 200);
    });
  });
  for (const mode of ["optional", "required"] as const)
    test(`a client without a certificate has none in a resumed session of TLS 1.3 either (${mode})`, async () => {
      await withListener({ tls: { ...tls, client: mode }, auth }, async (gateway) => {
        const port = Number(new URL(gateway.url).port);
        const call = "POST /nodes/pg1/restart HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        const send = async (session: Buffer | undefined): Promise<{ answer: string; session: Buffer | undefined }> => {
          const socket = connect({ host: "127.0.0.1", port, ...trusting, ...(session ? { session } : {}) });
          let kept: Buffer | undefined;
          socket.on("session", (ticket) => (kept = ticket));
          socket.on("error", () => {});
          const [wasReused] = await Promise.all([
            once(socket, "secureConnect").then(() => socket.isSessionReused()),
            new Promise((resolve) => socket.write(call, resolve)),
          ]);
          assert.equal(wasReused, session !== undefined);
          const answer = await text(socket);
          return { answer, session: kept };
        };
        const first = await send(undefined);
        assert.ok(first.session !== undefined);
        for (const { answer } of [first, await send(first.session)])
          assert.match(answer, mode === "optional" ? /^HTTP\/1\.1 401 / : /^HTTP\/1\.1 400 no_client_certificate/);
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
      await until("the new certificate", () =>
        subjectAt(port).then((name) => (name === "renewed listener" ? true : undefined)),
      );
      held.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
      const [first] = await new Promise<Buffer[]>((resolve) => held.once("data", (...data: Buffer[]) => resolve(data)));
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
      await until("a line", () =>
        gateway.logRecords.find(({ msg, problem }) => msg === "files of a listener read" && problem !== null),
      );
      assert.equal((await gateway.request("/nodes/pg1/primary", { tls: trusting })).status, 200);
    });
  });
  test("says on a TLS port that plain HTTP is not accepted", async () => {
    await withListener({ tls }, async (gateway) => {
      const { status, headers } = await sendRequest(gateway.url.replace("https", "http"));
      assert.deepEqual([status, headers["x-rolecall-reason"]], [400, "plain_http_on_tls"]);
      assert.equal((await gateway.request("/nodes/pg1/primary", { tls: trusting })).status, 200);
    });
  });
});

function subjectAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, ...trusting }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on("error", reject);
  });
}
