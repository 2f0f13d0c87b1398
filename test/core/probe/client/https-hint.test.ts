import assert from "node:assert/strict";
import { createServer as createTcpServer, type Socket } from "node:net";
import { createServer, type Server } from "node:tls";
import { test, type TestContext } from "node:test";
import type { Failure } from "../../../../src/core/cluster/observation.ts";
import { HttpsHint } from "../../../../src/core/probe/client/https-hint.ts";
import { selfSignedCertificate } from "../../../fake/certificates.ts";
import { listenDuringTest } from "../../../fake/listen.ts";
import { serveRaw } from "../../../fake/raw-node.ts";

const reset: Failure = { kind: "reset", detail: "ECONNRESET: read" };

/** A detection whose handshakes the test answers and counts. */
class Detection {
  nowMs = 0;
  speaksTls = true;
  answersWaitMs = 0;
  handshakes = 0;
  readonly hint: HttpsHint;

  constructor(origin: string) {
    this.hint = new HttpsHint(origin, {
      now: () => this.nowMs,
      timeoutMs: 1_000,
      answersWaitMs: () => this.answersWaitMs,
      isTlsServer: async () => {
        this.handshakes += 1;
        return this.speaksTls;
      },
    });
  }

  async kindOf(failure: Failure = reset): Promise<string> {
    return (await this.hint.refine(failure)).kind;
  }
}

test("a TLS port resets a connection of plain HTTP, or answers unreadably: the failure is https", async () => {
  for (const [kind, expected] of [
    ["reset", "https"],
    ["body", "https"],
    ["refused", "refused"],
    ["timeout", "timeout"],
  ] as const) {
    const detection = new Detection("http://pg1:8008");
    assert.equal(await detection.kindOf({ kind, detail: "x" }), expected);
    assert.equal(detection.handshakes, expected === "https" ? 1 : 0);
  }
});

test("the failure of an https address, and that of a node without TLS, stay as they are", async () => {
  const https = new Detection("https://pg1:8008");
  assert.equal(await https.hint.refine(reset), reset);
  assert.equal(https.handshakes, 0);
  const plain = new Detection("http://pg1:8008");
  plain.speaksTls = false;
  assert.equal(await plain.hint.refine(reset), reset);
});

test("the detail names the address and what to change", async () => {
  assert.deepEqual(await new Detection("http://pg1:8008/").hint.refine(reset), {
    kind: "https",
    detail: "http://pg1:8008 speaks TLS: its address must begin with https://",
  });
});

test("a failing node gets a handshake every 30 s; meanwhile the finding holds", async () => {
  const detection = new Detection("http://pg1:8008");
  assert.equal(await detection.kindOf(), "https");
  detection.speaksTls = false;
  detection.nowMs = 29_999;
  assert.equal(await detection.kindOf(), "https");
  assert.equal(detection.handshakes, 1);
  detection.nowMs = 30_000;
  assert.equal(await detection.kindOf(), "reset");
  assert.equal(detection.handshakes, 2);
});

test("an answer discards the finding: the next failure leads to a handshake", async () => {
  const detection = new Detection("http://pg1:8008");
  await detection.kindOf();
  detection.speaksTls = false;
  detection.hint.reset();
  assert.equal(await detection.kindOf(), "reset");
});

async function kindAt(origin: string, timeoutMs = 10_000): Promise<string> {
  return (await new HttpsHint(origin, { now: () => 0, timeoutMs }).refine(reset)).kind;
}

function tlsServer(context: TestContext, requestsCertificate = false): Server {
  const server = createServer({
    ...selfSignedCertificate(context),
    requestCert: requestsCertificate,
    rejectUnauthorized: requestsCertificate,
    // Before TLS 1.3 a client learns within the handshake that its certificate is missing.
    maxVersion: "TLSv1.2",
  });
  server.on("secureConnection", (socket) => socket.on("error", () => {}));
  server.on("tlsClientError", () => {});
  return server;
}

test("a TLS server is found out by a handshake, whatever its certificate, or by an alert", async (context) => {
  for (const requestsCertificate of [false, true]) {
    const port = await listenDuringTest(context, tlsServer(context, requestsCertificate));
    assert.equal(await kindAt(`http://127.0.0.1:${port}`), "https");
  }
});

test("a server that resets, closes, or answers in plain text is no TLS server", async (context) => {
  for (const answer of [
    (socket: Socket) => void socket.resetAndDestroy(),
    (socket: Socket) => void socket.end(),
    (socket: Socket) => void socket.end("HTTP/1.0 400 Bad Request\r\n\r\n"),
  ]) {
    const { origin } = await serveRaw(context, (socket) => void socket.once("data", () => answer(socket)));
    assert.equal(await kindAt(origin), "reset");
  }
});

test("a server that does not answer within the time limit is no TLS server", async (context) => {
  const { origin } = await serveRaw(context, () => {});
  assert.equal(await kindAt(origin, 20), "reset");
});

test(
  "a server that sends a handshake byte by byte is no TLS server once the time limit is over",
  { timeout: 10_000 },
  async (context) => {
    const { origin } = await serveRaw(context, (socket) => {
      const record = Buffer.from([22, 3, 3, 64, 0, 2, 0, 63, 252]);
      let sent = 0;
      const drip = setInterval(() => {
        socket.write(Buffer.from([record[sent] ?? 0]));
        sent += 1;
      }, 5);
      socket.on("close", () => clearInterval(drip));
    });
    assert.equal(await kindAt(origin, 60), "reset");
  },
);

/** Why a test cannot listen on port 80 of an address; `false` if it can. */
async function problemOfPort80(address: string): Promise<string | false> {
  const server = createTcpServer();
  return new Promise((resolve) => {
    server.once("error", ({ message }) => resolve(message));
    server.listen(80, address, () => server.close(() => resolve(false)));
  });
}

test("an address without a port stands for port 80", { skip: await problemOfPort80("127.0.0.80") }, async (context) => {
  const server = tlsServer(context);
  await new Promise<void>((resolve) => void server.listen(80, "127.0.0.80", resolve));
  context.after(() => server.close());
  assert.equal(await kindAt("http://127.0.0.80"), "https");
});

test("a process that is late shakes no hands: a node closes a connection whose answer nobody reads", async () => {
  const detection = new Detection("http://pg1:8008");
  detection.answersWaitMs = 251;
  assert.equal(await detection.kindOf(), "reset");
  assert.equal(detection.handshakes, 0);
  detection.answersWaitMs = 0;
  assert.equal(await detection.kindOf(), "https");
});
