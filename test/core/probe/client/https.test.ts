import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { sendRequest } from "../../../fake/http-request.ts";
import { until } from "../../../fake/until.ts";
import { CertificateAuthority } from "../../../fake/certificates.ts";
import { nodeOf } from "../../../fake/config.ts";
import { openFakeNode } from "../../../fake/fake-node.ts";
import { gatewayFixtureOf } from "../../../fake/gateway-fixture.ts";
import { statusDocument } from "../../../fake/node-documents.ts";

// Anew for each run of these tests: a run for a mutant begins after another has removed the files.
let authority: CertificateAuthority;
before(() => {
  authority = new CertificateAuthority();
});
after(() => authority.remove());

test("a node that switched to https is down with that detail, in the status phrase and in the log", async () => {
  const { cert, key } = authority.issue("pg2");
  const pg1 = await openFakeNode({ name: "pg1", holdsLock: true });
  const pg2 = await openFakeNode({
    name: "pg2",
    holdsLock: false,
    tls: { cert: readFileSync(cert), key: readFileSync(key) },
  });
  const gateway = await gatewayFixtureOf([nodeOf(pg1), nodeOf({ name: "pg2", api: pg2.api.replace("https", "http") })]);
  try {
    const phrase = await until("pg2 down", async () => {
      const answer = await sendRequest(`${gateway.checksUrl}/nodes/pg2/replica`);
      return answer.headers["x-rolecall-reason"] === "down" ? answer.phrase : undefined;
    });
    assert.equal(phrase, "down https");
    const line = await until("a line", () =>
      gateway.logRecords.find(
        ({ node, isReachable, failure }) => node === "pg2" && isReachable === false && failure !== undefined,
      ),
    );
    assert.match(String(line["failure"]), /speaks TLS: its address must begin with https/);
    const { body: metrics } = await sendRequest(`${gateway.adminUrl}/metrics`);
    assert.match(
      metrics,
      /rolecall_probes_total\{cluster="demo",node="pg2",question="leader",outcome="(reset|body)"\} ([3-9]|\d\d)/,
    );
    assert.equal((await sendRequest(`${gateway.checksUrl}/nodes/pg1/primary`)).status, 200);
  } finally {
    await gateway.close();
    await Promise.all([pg1.close(), pg2.close()]);
  }
});

test("a node that resets connections without speaking TLS is not reported as https", async () => {
  const pg1 = await openFakeNode({ name: "pg1", holdsLock: true });
  const pg2 = await openFakeNode({ name: "pg2", holdsLock: false, handler: (request) => request.socket.destroy() });
  const gateway = await gatewayFixtureOf([nodeOf(pg1), nodeOf(pg2)]);
  try {
    const line = await until("a line", () =>
      gateway.logRecords.find(({ node, failure }) => node === "pg2" && failure !== undefined),
    );
    assert.doesNotMatch(String(line["failure"]), /TLS/);
  } finally {
    await gateway.close();
    await Promise.all([pg1.close(), pg2.close()]);
  }
});

test("connects to an https address with the cluster's CA and our client certificate", async () => {
  const [server, client] = [authority.issue("pg1"), authority.issue("edge")];
  const seen: (string | undefined)[] = [];
  const pg1 = await openFakeNode({
    name: "pg1",
    holdsLock: true,
    tls: {
      cert: readFileSync(server.cert),
      key: readFileSync(server.key),
      ca: readFileSync(authority.ca),
      requestCert: true,
    },
    respond: (_, response) => response.end(JSON.stringify(statusDocument("pg1", { role: "primary" }))),
  });
  const nameOf = (socket: import("node:tls").TLSSocket) => seen.push(String(socket.getPeerCertificate().subject?.CN));
  pg1.server.on("secureConnection", nameOf);
  const gateway = await gatewayFixtureOf([nodeOf(pg1)], {
    cluster: { tls: { ca: authority.ca, ...client, serverName: null, verify: "full" } },
  });
  try {
    assert.equal((await sendRequest(`${gateway.checksUrl}/nodes/pg1/primary`)).status, 200);
    seen.length = 0;
    const answer = await gateway.request("/nodes/pg1/restart", { method: "POST" });
    assert.equal(answer.status, 200);
    assert.ok(seen.includes("edge"));
  } finally {
    await gateway.close();
    await pg1.close();
  }
});

test("a management call to a node whose certificate has another name, with verify: chain", async () => {
  const server = authority.issue("pg1");
  const pg1 = await openFakeNode({
    name: "pg1",
    holdsLock: true,
    tls: { cert: readFileSync(server.cert), key: readFileSync(server.key) },
  });
  const gateway = await gatewayFixtureOf([nodeOf(pg1)], {
    cluster: { tls: { ca: authority.ca, cert: null, key: null, serverName: "else.internal", verify: "chain" } },
  });
  try {
    assert.equal((await sendRequest(`${gateway.checksUrl}/nodes/pg1/primary`)).status, 200);
    assert.equal((await gateway.request("/nodes/pg1/restart", { method: "POST" })).status, 200);
  } finally {
    await gateway.close();
    await pg1.close();
  }
});
