/** Clients of an xDS listener that do harm, each in one way, for as long as they run. */
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { callHeaders, dataFrames, frame, frameFlags, headerBlock, message, openCall, preface } from "./http2-frames.ts";
import { xdsMethods } from "./xds-client.ts";

/** What a kind of client needs. */
export interface Attack {
  readonly port: number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly isOver: () => boolean;
  /** Counts what was done. */
  readonly count: (much: number) => void;
}

const assignmentType = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const settings = frame({ type: "settings" });
const settingsAck = frame({ type: "settings", flags: frameFlags.ack });
/** No stream of this client may send anything to it. */
const closedWindow = frame({ type: "settings", payload: Buffer.from([0, 4, 0, 0, 0, 0]) });
const cancel = Buffer.from([0, 0, 0, 8]);
const sotw = xdsMethods["ads sotw"];
const delta = xdsMethods["ads delta"];
const manyNames = Array.from({ length: 10_000 }, (_, at) => `pool-${at}-of-somebody-else`);
/** What a node id may do to a terminal and to a log. */
const evilId = '\u001b[2J\u0007\r\n{"level":60}\u0000\u009b31m\u202e';

/** A number generator that a seed starts, so that a run can be repeated (Numerical Recipes, 7.1). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A connection that answers PING and SETTINGS, as the server needs it, and else does what it is told. */
class RawConnection {
  readonly socket: Socket;
  #rest: Buffer = Buffer.alloc(0);

  constructor(port: number, opening: Buffer = Buffer.concat([preface, settings])) {
    this.socket = connect({ port, host: "127.0.0.1" });
    this.socket.on("error", () => {}); // it is closed as a matter of course
    this.socket.on("data", (bytes) => this.#read(bytes));
    this.socket.write(opening);
  }

  /** Whether the server or the client has closed it. */
  get isClosed(): boolean {
    return this.socket.destroyed || this.socket.readableEnded;
  }

  /** Writes, and waits until the bytes are on their way or the connection is closed. */
  async write(bytes: Buffer): Promise<void> {
    if (this.isClosed || this.socket.write(bytes)) return nextTurn();
    await new Promise<void>((resolve) => {
      const end = (): void => {
        this.socket.off("drain", end).off("close", end);
        resolve();
      };
      this.socket.once("drain", end).once("close", end);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  #read(bytes: Buffer): void {
    let rest = Buffer.concat([this.#rest, bytes]);
    while (rest.length >= 9) {
      const length = rest.readUIntBE(0, 3);
      if (rest.length < 9 + length) break;
      const [type, flags] = [rest[3], rest[4]];
      if (type === 6 && flags === 0)
        this.socket.write(frame({ type: "ping", flags: frameFlags.ack, payload: rest.subarray(9, 9 + length) }));
      if (type === 4 && flags === 0) this.socket.write(settingsAck);
      rest = rest.subarray(9 + length);
    }
    this.#rest = rest;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

function requestBytes(request: object, method: typeof sotw = sotw): Buffer {
  return method.requestSerialize({ type_url: assignmentType, ...request });
}

function call(stream: number, request: object, more: Readonly<Record<string, string>> = {}): Buffer {
  return Buffer.concat([openCall(stream, sotw.path, more), dataFrames(stream, message(requestBytes(request)))]);
}

/** Keeps some connections busy: each act is repeated until its connection is closed, and then on a new one. */
async function together(
  { port, isOver }: Attack,
  { connections, opening }: { readonly connections: number; readonly opening?: Buffer },
  act: (connection: RawConnection, round: number) => Promise<void>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (!isOver()) {
        const connection = new RawConnection(port, opening);
        for (let round = 0; !isOver() && !connection.isClosed; round += 1) await act(connection, round);
        connection.close();
        await nextTurn();
      }
    }),
  );
}

/** A conversation as bytes, of which some are replaced, left out or doubled. */
async function mutatedFrames(attack: Attack): Promise<void> {
  const good = [
    preface,
    settings,
    call(1, { node: { id: "e" }, resource_names: ["write", "read"] }),
    call(3, { node: { id: "f" }, resource_names: [] }, { "grpc-timeout": "1S" }),
    frame({ type: "ping", payload: Buffer.alloc(8) }),
    frame({ type: "window", payload: Buffer.from([0, 0, 255, 255]) }),
    frame({ type: "window", stream: 1, payload: Buffer.from([0, 0, 255, 255]) }),
    dataFrames(1, message(requestBytes({ response_nonce: "1", resource_names: ["write"] }))),
    dataFrames(3, message(gzipSync(requestBytes({})), true)),
    frame({ type: "data", flags: frameFlags.endStream, stream: 1 }),
    frame({ type: "rst", stream: 3, payload: cancel }),
  ];
  await together({ ...attack }, { connections: 8, opening: Buffer.alloc(0) }, async (connection) => {
    const frames = good.flatMap((bytes, at) => (at === 0 ? [bytes] : mutated(bytes, attack.random)));
    attack.count(frames.length);
    await connection.write(Buffer.concat(frames));
    if (attack.random() < 0.2) connection.socket.resetAndDestroy();
    else connection.socket.end();
    await wait(2);
    connection.close();
  });
}

function mutated(bytes: Buffer, random: () => number): readonly Buffer[] {
  const what = random();
  if (what < 0.1) return [];
  if (what < 0.2) return [bytes, bytes];
  if (what < 0.3) return [bytes.subarray(0, Math.floor(random() * bytes.length))];
  if (what < 0.5) return [bytes];
  const copy = Buffer.from(bytes);
  for (let times = Math.ceil(random() * 4); times > 0 && copy.length > 0; times -= 1)
    copy[Math.floor(random() * (random() < 0.5 ? Math.min(9, copy.length) : copy.length))] = Math.floor(random() * 256);
  return [copy];
}

/** Good frames with messages that are none, or none that anybody would send. */
async function mutatedMessages(attack: Attack): Promise<void> {
  const good = [
    requestBytes({ node: { id: "e", locality: { zone: "a" } }, resource_names: ["write", "read"] }),
    requestBytes({ response_nonce: "1", error_detail: { message: "no" }, resource_names: ["write"] }),
    requestBytes(
      { node: { id: "f" }, resource_names_subscribe: ["write"], initial_resource_versions: { a: "b" } },
      delta,
    ),
  ];
  await together(attack, { connections: 4 }, async (connection, round) => {
    const stream = 2 * round + 1;
    const messages = Array.from({ length: 8 }, (_, at) =>
      message(
        Buffer.concat(mutated(good[(at + round) % good.length] ?? Buffer.alloc(0), attack.random)),
        attack.random() < 0.05,
      ),
    );
    attack.count(messages.length);
    await connection.write(
      Buffer.concat([
        openCall(stream, (round % 2 === 0 ? sotw : delta).path),
        dataFrames(stream, Buffer.concat(messages)),
        frame({ type: "data", flags: frameFlags.endStream, stream }),
      ]),
    );
  });
}

/** Calls that are opened, subscribe to all, and are reset: one after another, or as many as a connection has. */
async function resets(attack: Attack, together_: number): Promise<void> {
  await together(attack, { connections: 4 }, async (connection, round) => {
    const streams = Array.from({ length: together_ }, (_, at) => 2 * (round * together_ + at) + 1);
    const opened = streams.map((stream) => call(stream, { node: { id: `e${stream}` }, resource_names: [] }));
    const reset = streams.map((stream) => frame({ type: "rst", stream, payload: cancel }));
    attack.count(together_);
    await connection.write(Buffer.concat(together_ === 1 ? [...opened, ...reset] : opened));
    if (together_ > 1) await wait(20);
    if (together_ > 1) await connection.write(Buffer.concat(reset));
  });
}

/** Requests on one stream of each connection, as fast as they are read. */
async function requests(attack: Attack, connections: number, requestOf: (round: number) => object): Promise<void> {
  const first = new Map<number, Buffer>();
  await together(attack, { connections }, async (connection, round) => {
    if (round === 0) await connection.write(openCall(1, sotw.path));
    const key = round % 16;
    const bytes = first.get(key) ?? dataFrames(1, message(requestBytes(requestOf(key))));
    first.set(key, bytes);
    attack.count(1);
    await connection.write(bytes);
  });
}

/** Frames of the connection itself, as fast as they are read. */
async function connectionFrames(attack: Attack, bytes: Buffer): Promise<void> {
  const many = Buffer.concat(Array.from({ length: 100 }, () => bytes));
  await together(attack, { connections: 4 }, async (connection) => {
    attack.count(100);
    await connection.write(many);
  });
}

/** One byte of the preface at a time, on many connections. */
async function slowly(attack: Attack): Promise<void> {
  await together(attack, { connections: 200, opening: Buffer.alloc(0) }, async (connection, round) => {
    attack.count(1);
    await connection.write(preface.subarray(round, round + 1));
    await wait(100);
  });
}

/** The head of a call, without an end. */
async function endlessHeaders(attack: Attack): Promise<void> {
  await together(attack, { connections: 4 }, async (connection, round) => {
    const block = headerBlock([...callHeaders(sotw.path), ["x-more", "a".repeat(1_000)]]);
    const more = headerBlock([["x-more", "b".repeat(1_000)]]);
    if (round === 0) await connection.write(frame({ type: "headers", stream: 1, payload: block }));
    attack.count(1);
    await connection.write(frame({ type: "continuation", stream: 1, payload: more }));
  });
}

/** Calls that subscribe to all and read nothing. They stay. */
async function silentReaders(attack: Attack): Promise<void> {
  const streams = 200;
  await together(
    attack,
    { connections: 10, opening: Buffer.concat([preface, closedWindow]) },
    async (connection, round) => {
      if (round < streams) {
        attack.count(1);
        await connection.write(call(2 * round + 1, { node: { id: `deaf-${round}` }, resource_names: [] }));
      } else await wait(50);
    },
  );
}

/** Connections that are opened and reset. */
async function shortConnections(attack: Attack): Promise<void> {
  await together(attack, { connections: 20 }, async (connection) => {
    attack.count(1);
    await wait(1);
    connection.socket.resetAndDestroy();
    await nextTurn();
  });
}

/** Calls that are none: other paths, methods, types, and headers that no program sends. */
async function wrongCalls(attack: Attack): Promise<void> {
  const wrong: readonly Readonly<Record<string, string>>[] = [
    { ":path": "/no.Such/Method" },
    { "content-type": "text/html" },
    { ":method": "GET" },
    { "grpc-timeout": "soon" },
    { "grpc-timeout": "99999999H" },
    { "x-odd": "\u00e4\u009b31m".repeat(1_000) },
    { "grpc-encoding": "\u00e4" },
    { "x-odd-bin": "%%%" },
  ];
  await together(attack, { connections: 4 }, async (connection, round) => {
    const stream = 2 * round + 1;
    attack.count(1);
    await connection.write(
      Buffer.concat([
        openCall(stream, sotw.path, wrong[round % wrong.length]),
        dataFrames(stream, message(requestBytes({ node: { id: "wrong" } }), round % 3 === 0)),
        frame({ type: "rst", stream, payload: cancel }),
      ]),
    );
  });
}

/** The kinds of hostile clients, by name. */
export const hostileXdsClients: Readonly<Record<string, (attack: Attack) => Promise<void>>> = {
  "mutated frames": mutatedFrames,
  "mutated messages": mutatedMessages,
  "streams that are reset at once": (attack) => resets(attack, 1),
  "floods of streams": (attack) => resets(attack, 1_000),
  "floods of connections": shortConnections,
  "floods of requests": (attack) => requests(attack, 20, (at) => ({ node: { id: "e" }, resource_names: [`p${at}`] })),
  "subscriptions to 10,000 names": (attack) =>
    requests(attack, 4, () => ({ node: { id: "e" }, resource_names: manyNames })),
  "node ids of 1 MB": (attack) => requests(attack, 4, () => ({ node: { id: evilId + "e".repeat(1_000_000) } })),
  "refusals of 1 MB": (attack) =>
    requests(attack, 4, (at) => ({
      node: { id: evilId },
      response_nonce: at === 0 ? "" : "1",
      error_detail: { message: evilId.repeat(25_000) },
    })),
  "zip bombs": (attack) => {
    const bomb = message(gzipSync(Buffer.alloc(100_000_000)), true);
    return together(attack, { connections: 4 }, async (connection, round) => {
      const stream = 2 * round + 1;
      attack.count(1);
      await connection.write(
        Buffer.concat([openCall(stream, sotw.path, { "grpc-encoding": "gzip" }), dataFrames(stream, bomb)]),
      );
      await wait(5);
    });
  },
  "readers that never read": silentReaders,
  "prefaces byte by byte": slowly,
  "headers without an end": endlessHeaders,
  "floods of SETTINGS": (attack) => connectionFrames(attack, settings),
  "floods of PING": (attack) => connectionFrames(attack, frame({ type: "ping", payload: Buffer.alloc(8) })),
  "floods of empty DATA": (attack) => connectionFrames(attack, Buffer.concat([frame({ type: "data", stream: 1 })])),
  "calls that are none": wrongCalls,
};
