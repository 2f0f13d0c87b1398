import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { after, suite, test } from "node:test";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { CertificateAuthority } from "../../../fake/certificates.ts";
import { binaryPreamble } from "../../../fake/proxy-preambles.ts";
import { until } from "../../../fake/until.ts";
import { check, openEdge, send, writeAll } from "./edge-fixture.ts";

const authority = new CertificateAuthority();
const issued = authority.issue("listener");
const client = authority.issue("edge client");
after(() => authority.remove());
const tls = { cert: issued.cert, key: issued.key, ca: authority.ca, minVersion: "TLSv1.2", client: "off" } as const;
const ca = readFileSync(authority.ca);

suite("TLS listeners", () => {
  test("tell a plain request, and report failed handshakes", async (context) => {
    const edge = await openEdge(context, { tls });
    assert.match(await send(edge.port, check), /^HTTP\/1\.1 400 plain_http_on_tls\r\n/);
    assert.match(await send(edge.port, "GET primary HTTP/1.0\r\n\r\n"), /^HTTP\/1\.1 400 plain_http_on_tls\r\n/);
    const handshakes: readonly (readonly [options: ConnectionOptions, reason: string])[] = [
      [{ ca, ALPNProtocols: ["h2"] }, "tls_alpn"],
      [{ ca, maxVersion: "TLSv1.1", minVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0" }, "tls_version"],
    ];
    for (const [options, reason] of handshakes) {
      const before = edge.rejected.length;
      const socket = connectTls({ port: edge.port, host: "127.0.0.1", ...options });
      await new Promise((resolve) => socket.once("error", resolve).once("close", resolve));
      const one = await until(reason, () => edge.rejected[before]);
      assert.deepEqual([one.reason, one.status, one.address], [reason, null, "127.0.0.1"]);
    }
    const agreed = connectTls({ port: edge.port, host: "127.0.0.1", ca, ALPNProtocols: ["h2", "http/1.1"] });
    agreed.write(check);
    assert.match(await text(agreed), /^HTTP\/1\.1 200 /);
    assert.equal(agreed.alpnProtocol, "http/1.1");
  });
});

suite("PROXY preambles of trusted balancers", () => {
  const proxied = { proxyProtocol: ["127.0.0.0/8"] };
  const from = (address: string): string => `PROXY TCP4 ${address} 10.0.0.9 1 2\r\n`;

  test("name the client for allow, limits and reports; without one the connection is refused", async (context) => {
    const edge = await openEdge(context, { ...proxied, allow: ["192.0.2.0/24"] });
    const answer = await send(edge.port, `${from("192.0.2.7")}${check}`);
    assert.match(answer, /^HTTP\/1\.1 200 /);
    assert.match(await send(edge.port, `${from("198.51.100.7")}${check}`), /^HTTP\/1\.1 403 not_allowed\r\n/);
    assert.equal(edge.rejected.at(-1)?.address, "198.51.100.7");
    const v2 = binaryPreamble(1, 1, Buffer.from([192, 0, 2, 8, 10, 0, 0, 1, 1, 2, 3, 4, 4, 0, 1, 9]));
    assert.match(await send(edge.port, v2.subarray(0, 20), v2.subarray(20), check), /^HTTP\/1\.1 200 /);
    assert.match(await send(edge.port, binaryPreamble(0, 0), check), /^HTTP\/1\.1 403 /, "LOCAL: the balancer itself");
    assert.match(await send(edge.port, check), /^HTTP\/1\.1 400 no_proxy_protocol\r\n/);
    assert.match(await send(edge.port, `PROXY TCP4 a b c d\r\n${check}`), /^HTTP\/1\.1 400 proxy_protocol_invalid\r\n/);
    assert.match(
      await send(edge.port, `${from("192.0.2.7")}${from("192.0.2.8")}${check}`),
      /^HTTP\/1\.1 400 /,
      "only one",
    );
    assert.deepEqual(edge.addresses, ["192.0.2.7", "192.0.2.8"]);
  });

  test("count the connections of each client, and give them back", async (context) => {
    const limits = { ...unrestrictedAccess.limits, connectionsPerAddress: 2 };
    const edge = await openEdge(context, { ...proxied, limits });
    const hold = async (address: string): Promise<Socket> => {
      const socket = connect(edge.port, "127.0.0.1");
      socket.on("error", () => {}).write(`${from(address)}GET /nodes/pg1/primary HTTP/1.1\r\n\r\n`);
      await new Promise((resolve) => socket.once("data", resolve).once("close", resolve));
      return socket;
    };
    const held = [await hold("192.0.2.7"), await hold("192.0.2.7"), await hold("192.0.2.8"), await hold("192.0.2.9")];
    assert.equal(edge.rejected.length, 0);
    assert.equal((await hold("192.0.2.7")).destroyed, true);
    assert.deepEqual([edge.rejected[0]?.address, edge.rejected[0]?.reason], ["192.0.2.7", "connections_per_address"]);
    held[0]?.destroy();
    await until("room", async () => !(await hold("192.0.2.7")).destroyed);
    for (const socket of held) socket.destroy();
  });

  test("come before TLS, and name the client inside it", async (context) => {
    const edge = await openEdge(context, { ...proxied, tls: { ...tls, client: "required" }, allow: ["192.0.2.0/24"] });
    const ask = async (preamble: string): Promise<string> => {
      const raw = connect(edge.port, "127.0.0.1");
      raw.on("error", () => {});
      if (preamble !== "") await writeAll(raw, [preamble]);
      const certificate = { cert: readFileSync(client.cert), key: readFileSync(client.key) };
      const socket = connectTls({ socket: raw, ca, host: "127.0.0.1", ...certificate });
      socket.on("error", () => {}).write(check);
      return text(socket).catch(() => "");
    };
    assert.match(await ask(from("192.0.2.7")), /^HTTP\/1\.1 200 /);
    assert.match(await ask(from("198.51.100.7")), /^HTTP\/1\.1 403 /);
    assert.equal(await ask(""), "", "a handshake without the preamble");
    assert.equal(edge.rejected.at(-1)?.reason, "no_proxy_protocol");
    assert.match(await send(edge.port, from("192.0.2.7"), check), /^HTTP\/1\.1 400 plain_http_on_tls\r\n/);
  });

  test("leave the fast path to other clients", async (context) => {
    const edge = await openEdge(context, { proxyProtocol: ["192.0.2.1/32"] });
    for (let time = 0; time < 3; time += 1) assert.match(await send(edge.port, check), /^HTTP\/1\.1 200 /);
    assert.ok(edge.fastRequests() > 0);
    assert.match(await send(edge.port, `${from("192.0.2.7")}${check}`), /^HTTP\/1\.1 400 proxy_protocol\r\n/);
  });
});
