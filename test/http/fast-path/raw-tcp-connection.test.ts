import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { RawTcpConnection, type Written } from "../../../src/http/fast-path/raw-tcp-connection.ts";
import {
  type Handle,
  peerOf,
  hasSupportedInternals,
  interceptConnections,
} from "../../../src/http/fast-path/tcp-handle.ts";

/** What a test does with what its connection reads. */
type Manner = (connection: Bare, text: string) => void;

let manner: Manner = () => {};
let giveBack: (handle: Handle) => void = () => assert.fail("nothing was taken");
const taken: Bare[] = [];

class Bare extends RawTcpConnection {
  readonly peer: string;
  timesGone = 0;
  readonly failures: unknown[] = [];
  readonly left: Promise<void>;
  #leave: () => void = () => {};

  constructor(handle: Handle) {
    super(handle);
    this.peer = peerOf(handle);
    this.left = new Promise((resolve) => {
      this.#leave = resolve;
    });
  }

  protected read(buffer: Buffer, length: number): void {
    manner(this, buffer.toString("latin1", 0, length));
  }

  protected onClosed(): void {
    this.timesGone += 1;
    this.#leave();
  }

  protected failed(error: unknown): void {
    this.failures.push(error);
  }
}

/** More than a system takes for a peer that does not read. */
const flood = Buffer.alloc(16 * 2 ** 20, "flood");
const server: Server = createServer();
/** What the server's own sockets read: those that were given back. */
const handed: Socket[] = [];

before(async () => {
  server.on("connection", (socket) => handed.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  giveBack =
    interceptConnections(server, (handle) => {
      const connection = new Bare(handle);
      taken.push(connection);
      connection.start();
      return true;
    }) ?? giveBack;
});
after(() => {
  for (const connection of taken) connection.close();
  for (const socket of handed) socket.destroy();
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
async function heard(socket: Socket): Promise<string> {
  const [chunk] = (await once(socket, "data")) as [Buffer];
  return chunk.toString("latin1");
}

/** The server's socket of a client, once its connection was given back. */
async function handedOf(client: Socket): Promise<Socket> {
  for (;;) {
    const socket = handed.find(({ remotePort }) => remotePort === client.localPort);
    if (socket !== undefined) return socket;
    await once(server, "connection");
  }
}

/** The one that was taken last. */
function last(): Bare {
  const connection = taken.at(-1);
  assert.ok(connection !== undefined);
  return connection;
}

suite("a bare connection", () => {
  test("is to be had in every Node that we are tried with", () => assert.ok(hasSupportedInternals));

  test("knows its peer, answers again and again, by chunks of its own and by the shared one, and hears the end", async () => {
    manner = (connection, text) => {
      assert.equal(connection.write(Buffer.from(text.toUpperCase())), "sent");
      connection.enableKeepAlive();
    };
    const client = dial();
    for (const word of ["one", "two", "three"]) {
      client.write(word);
      assert.equal(await heard(client), word.toUpperCase());
    }
    assert.equal(last().peer, "127.0.0.1");
    client.end();
    assert.equal(await received(client), "");
    assert.equal(last().timesGone, 1);
  });

  test("ends once a slow reader has everything, whatever else it says meanwhile", async () => {
    manner = (connection) => connection.end(flood);
    const client = dial();
    client.write("go");
    await once(client, "connect");
    setImmediate(() => client.write("and more"));
    assert.equal((await received(client)).length, flood.length);
    assert.equal(last().timesGone, 1);
  });

  test("says that a write waits, and what it is given back with goes out after that", async () => {
    const written: Written[] = [];
    manner = (connection) => {
      written.push(connection.write(flood));
      connection.releaseHandle(giveBack);
      handed.at(-1)?.end("tail");
    };
    const client = dial();
    client.write("go");
    const text = await received(client);
    assert.deepEqual(written, ["waiting"]);
    assert.equal(text.length, flood.length + 4);
    assert.ok(text.endsWith("tail"));
    assert.equal(last().timesGone, 1);
  });

  test("is a socket like any other once it is given back, also after it has shared a buffer", async () => {
    manner = (connection, text) => {
      if (text === "stay") {
        connection.write(Buffer.from("stayed"));
        connection.enableKeepAlive();
      } else connection.releaseHandle(giveBack);
    };
    // Two at once, so that what one reads is in the shared buffer while the other's chunks wait.
    await Promise.all(
      ["a", "b"].map(async (letter) => {
        const client = dial();
        client.write("stay");
        assert.equal(await heard(client), "stayed");
        client.write("go");
        const socket = await handedOf(client);
        const much = letter.repeat(300_000);
        client.end(much);
        assert.equal(await received(socket), much);
        socket.end();
        assert.equal(await received(client), "");
      }),
    );
  });

  test("that its peer resets is gone, once", async () => {
    const client = dial();
    manner = () => void client.resetAndDestroy();
    client.write("here");
    await once(client, "close");
    const connection = last();
    await connection.left;
    connection.close();
    assert.equal(connection.timesGone, 1);
  });
});

test("nothing is taken of a server that is no TCP server: its connections go its own way", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-bare-"));
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
