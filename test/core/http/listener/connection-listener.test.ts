import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { ConnectionListener } from "../../../../src/core/http/listener/connection-listener.ts";
import { CertificateAuthority } from "../../../fake/certificates.ts";
import { listenerOf } from "../../../fake/config.ts";

test("a TLS handshake that begins and does not go on costs its connection alone", async (context) => {
  const authority = new CertificateAuthority();
  context.after(() => authority.remove());
  const { cert, key } = authority.issue("listener");
  const { access } = listenerOf({});
  const tls = { cert, key, ca: null, minVersion: "TLSv1.2", client: "off" } as const;
  const rejected: string[] = [];
  const listener = new ConnectionListener(
    { converse: () => assert.fail("no handshake was completed") },
    { ...access, tls, limits: { ...access.limits, headerTimeoutMs: 100 } },
    {
      onRejected: ({ reason }) => void rejected.push(reason),
      onError: (error) => assert.fail(String(error)),
      onFiles: () => {},
    },
  );
  const port = await listener.open({ address: "127.0.0.1", port: 0 });
  context.after(() => listener.close(0));
  const sockets = ["", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"].map((beginning) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(beginning, "latin1");
    return socket.resume();
  });
  await Promise.all(sockets.map((socket) => once(socket, "close")));
  assert.deepEqual(rejected, ["tls", "tls"]);
});
