import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import {
  type PassToServer,
  interceptConnections,
  peerOf,
} from "../../../../src/core/http/fast-path/intercept-connections.ts";
import { findNodeInternals, type TcpHandle } from "../../../../src/core/http/fast-path/node-internals.ts";
import { RawTcpConnection } from "../../../../src/core/http/fast-path/raw-tcp-connection.ts";
import { TcpIo, type WriteResult } from "../../../../src/core/http/fast-path/tcp-io.ts";

const internals = findNodeInternals();
if ("problem" in internals) throw new Error(internals.problem);
const io = new TcpIo(internals);

let onRead: (connection: TestConnection, text: string) => void = () => {};
let passToServer: PassToServer = () => assert.fail("no connection was intercepted");
const taken: TestConnection[] = [];

class TestConnection extends RawTcpConnection {
  readonly peer: string;
  timesClosed = 0;
  readonly failures: unknown[] = [];
  readonly closed: Promise<void>;
  #resolveClosed: () => void = () => {};

  constructor(handle: TcpHandle) {
    super(handle, io);
    this.peer = peerOf(handle);
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  protected read(buffer: Buffer, length: number): void {
    onRead(this, buffer.toString("latin1", 0, length));
  }

  protected onClosed(): void {
    this.timesClosed += 1;
    this.#resolveClosed();
  }

  protected failed(error: unknown): void {
    this.failures.push(error);
  }
}

/** More than the system buffers for a peer that does not read. */
const flood = Buffer.alloc(16 * 2 ** 20, "flood");
const server: Server = createServer();
/** The server's sockets of connections that were released. */
const sockets: Socket[] = [];

before(async () => {
  server.on("connection", (socket) => sockets.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  passToServer =
    interceptConnections(server, (handle) => {
      const connection = new TestConnection(handle);
      taken.push(connection);
      connection.start();
      return true;
    }) ?? passToServer;
});
after(() => {
  for (const connection of taken) connection.close();
  for (const socket of sockets) socket.destroy();
  server.close();
});

function dial(): Socket {
  return connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", noDelay: true });
}

async function received(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("latin1");
}

/** The next chunk of a socket. */
async function nextChunk(socket: Socket): Promise<string> {
  const [chunk] = (await once(socket, "data")) as [Buffer];
  return chunk.toString("latin1");
}

/** The server's socket of a client, once its connection was released. */
async function socketOf(client: Socket): Promise<Socket> {
  for (;;) {
    const socket = sockets.find(({ remotePort }) => remotePort === client.localPort);
    if (socket !== undefined) return socket;
    await once(server, "connection");
  }
}

/** The connection that was intercepted last. */
function last(): TestConnection {
  const connection = taken.at(-1);
  assert.ok(connection !== undefined);
  return connection;
}

suite("a raw TCP connection", () => {
  test("reads chunks of its own, then the shared buffer, and closes when its peer ends", async () => {
    onRead = (connection, text) => {
      assert.equal(connection.write(Buffer.from(text.toUpperCase())), "sent");
      connection.enableKeepAlive();
    };
    const client = dial();
    for (const request of ["one", "two", "three"]) {
      client.write(request);
      assert.equal(await nextChunk(client), request.toUpperCase());
    }
    assert.equal(last().peer, "127.0.0.1");
    client.end();
    assert.equal(await received(client), "");
    assert.equal(last().timesClosed, 1);
  });

  test("closes after a slow reader has received everything, whatever the reader sends meanwhile", async () => {
    onRead = (connection) => connection.end(flood);
    const client = dial();
    client.write("go");
    await once(client, "connect");
    setImmediate(() => client.write("and more"));
    assert.equal((await received(client)).length, flood.length);
    assert.equal(last().timesClosed, 1);
  });

  test("reports a write that waits, and sends it before what its next owner writes", async () => {
    const written: WriteResult[] = [];
    onRead = (connection) => {
      written.push(connection.write(flood));
      connection.releaseHandle(passToServer);
      sockets.at(-1)?.end("tail");
    };
    const client = dial();
    client.write("go");
    const text = await received(client);
    assert.deepEqual(written, ["waiting"]);
    assert.equal(text.length, flood.length + 4);
    assert.ok(text.endsWith("tail"));
    assert.equal(last().timesClosed, 1);
  });

  test("becomes an ordinary socket when it is released, also after it used the shared buffer", async () => {
    onRead = (connection, text) => {
      if (text === "stay") {
        connection.write(Buffer.from("stayed"));
        connection.enableKeepAlive();
      } else connection.releaseHandle(passToServer);
    };
    // Two at once, so that what one reads is in the shared buffer while the other's chunks wait.
    await Promise.all(
      ["a", "b"].map(async (letter) => {
        const client = dial();
        client.write("stay");
        assert.equal(await nextChunk(client), "stayed");
        client.write("go");
        const socket = await socketOf(client);
        const long = letter.repeat(300_000);
        client.end(long);
        assert.equal(await received(socket), long);
        socket.end();
        assert.equal(await received(client), "");
      }),
    );
  });

  test("closes a reset connection exactly once", async () => {
    const client = dial();
    onRead = () => void client.resetAndDestroy();
    client.write("here");
    await once(client, "close");
    const connection = last();
    await connection.closed;
    connection.close();
    assert.equal(connection.timesClosed, 1);
  });
});

test("leaves the connections of a server alone that is no TCP server", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-raw-"));
  const local = createServer((socket) => socket.end("by the server")).listen(join(folder, "socket"));
  await once(local, "listening");
  assert.equal(
    interceptConnections(local, () => true),
    null,
  );
  assert.equal(await received(connect(join(folder, "socket"))), "by the server");
  local.close();
  rmSync(folder, { recursive: true });
});
