/** Targets that hang, say what is no answer, never stop, or close early: each look ends in time, and within its bytes. */
import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { describe, test, type TestContext } from "node:test";
import { envoySource } from "../../../../src/features/audit/sources/envoy-source.ts";
import { haproxySource } from "../../../../src/features/haproxy/haproxy-source.ts";
import { pgbouncerSource } from "../../../../src/features/pgbouncer/audit/pgbouncer-source.ts";
import type { RouteSource } from "../../../../src/core/balancing/audited/route-source.ts";
import { listenDuringTest } from "../../../fake/listen.ts";
import { haproxyBackendOf } from "../../../fake/config.ts";
import { freePort } from "../../../fake/free-port.ts";

/** Long enough for a busy machine: only what hangs takes so long. */
const patientMs = 20_000;
const shortMs = 150;
/** More than any source reads, with what the kernel keeps for it. */
const sentMax = 48 * 1024 * 1024;

const backend = haproxyBackendOf();

const unlimited = new AbortController().signal;

const sources: Readonly<Record<string, (port: number, limitMs: number) => RouteSource>> = {
  HAProxy: (port, limitMs) => {
    const socket = { host: "127.0.0.1", port };
    return haproxySource({ socket, zone: null, cutSessions: false, backends: [backend] }, limitMs);
  },
  PgBouncer: (port, limitMs) => {
    const target = { address: { host: "127.0.0.1", port }, user: "rolecall", passwordFile: null, tls: null };
    return pgbouncerSource(target, [{ name: "orders", hasFile: true }], limitMs);
  },
  Envoy: (port, limitMs) =>
    envoySource({ admin: `http://127.0.0.1:${port}`, clusters: ["w"], mayLack: true, delayMs: 1_000, limitMs }),
};

/** Serves what a fault says. @returns the port, and how many bytes were written to clients */
async function serve(
  context: TestContext,
  fault: (socket: Socket) => void,
): Promise<{ readonly port: number; readonly sent: () => number }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.once("data", () => fault(socket));
  });
  const port = await listenDuringTest(context, server);
  context.after(() => sockets.forEach((socket) => socket.destroy()));
  return { port, sent: () => sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0) };
}

/** Writes as fast as the client reads, until 100 MB were written. */
function flood(socket: Socket, chunk: Buffer): void {
  const write = (): void => {
    while (!socket.destroyed && socket.bytesWritten < 100 * 1024 * 1024) if (!socket.write(chunk)) return;
    socket.end();
  };
  socket.on("drain", write);
  write();
}

const httpHead = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
const faults: Readonly<Record<string, { readonly limitMs: number; readonly act: (socket: Socket) => void }>> = {
  "does not answer": { limitMs: shortMs, act: () => {} },
  "answers half": { limitMs: shortMs, act: (socket) => void socket.write("# pxname,svname,") },
  "answers what is no answer": {
    limitMs: patientMs,
    act: (socket) => void socket.end("\u0000garbage\n> \n> \n> \n> "),
  },
  "answers with an empty page": { limitMs: patientMs, act: (socket) => void socket.end(`${httpHead}{}`) },
  "never stops": { limitMs: patientMs, act: (socket) => flood(socket, Buffer.alloc(65_536, "x")) },
  "never stops to send a page": {
    limitMs: patientMs,
    act: (socket) => {
      socket.write(httpHead);
      flood(socket, Buffer.alloc(65_536, "["));
    },
  },
  "closes at once": { limitMs: patientMs, act: (socket) => void socket.end() },
  "cuts the connection": { limitMs: patientMs, act: (socket) => void socket.destroy() },
};

for (const [program, sourceAt] of Object.entries(sources)) {
  describe(`a look at ${program}`, () => {
    for (const [what, { limitMs, act }] of Object.entries(faults))
      test(`fails if it ${what}`, async (context) => {
        const { port, sent } = await serve(context, act);
        await assert.rejects(sourceAt(port, limitMs).read(unlimited), (error: Error) => error.message !== "");
        assert.ok(sent() < sentMax, `${sent()} bytes were read`);
      });

    test("ends at once, with its connection, when it is ended from outside", async (context) => {
      const ending = new AbortController();
      let closed: Promise<void> = Promise.resolve();
      const { port } = await serve(context, (socket) => {
        closed = new Promise((resolve) => void socket.once("close", () => resolve()));
        ending.abort();
      });
      await assert.rejects(sourceAt(port, patientMs).read(ending.signal), (error: Error) => error.message !== "");
      await closed;
      await assert.rejects(sourceAt(port, patientMs).read(ending.signal), (error: Error) => error.message !== "");
    });

    test("fails if nobody listens", async () => {
      await assert.rejects(
        sourceAt(await freePort(), patientMs).read(unlimited),
        (error: Error) => error.message !== "",
      );
    });
  });
}
