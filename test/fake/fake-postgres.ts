/** A server that speaks as much of PostgreSQL's protocol (version 3) as one simple query needs. */
import { createServer, type Server, type Socket } from "node:net";
import { portOf } from "./listen.ts";

/** The answer to a query: rows of one shape, an error, or none at all. */
export type FakeAnswer =
  | {
      readonly rows: readonly Readonly<Record<string, string | null>>[];
      /** The command tag. Default: that of a SELECT */
      readonly tag?: string;
    }
  | { readonly sqlState: string; readonly message: string }
  | "silence"
  | "close";

const sslRequest = 80_877_103;

export class FakePostgres {
  readonly #answer: (sql: string) => FakeAnswer;
  readonly #password: string | null;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** A server that is down closes each connection at once, as a balancer without a server does. */
  isDown = false;

  /** @param password what it asks for, or `null` if it trusts everybody */
  constructor(answer: (sql: string) => FakeAnswer, password: string | null = null) {
    this.#answer = answer;
    this.#password = password;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => void this.#server.listen(0, "127.0.0.1", resolve));
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#sockets.size;
  }

  get port(): number {
    return portOf(this.#server);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => void this.#server.close(resolve));
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => {}); // "close" follows
    if (this.isDown) return void socket.destroy();
    let pending = Buffer.alloc(0);
    let isStarted = false;
    socket.on("data", (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      for (;;) {
        const head = isStarted ? 1 : 0;
        if (pending.length < head + 4 || pending.length < head + pending.readInt32BE(head)) return;
        const length = head + pending.readInt32BE(head);
        const message = pending.subarray(0, length);
        pending = pending.subarray(length);
        if (isStarted) this.#receive(socket, message);
        else if (message.readInt32BE(4) === sslRequest) socket.write("N");
        else {
          isStarted = true;
          socket.write(this.#password === null ? welcome() : typed("R", int32(3)));
        }
      }
    });
  }

  #receive(socket: Socket, message: Buffer): void {
    const type = message.toString("latin1", 0, 1);
    const text = message.toString("utf8", 5, Math.max(5, message.length - 1));
    if (type === "X") socket.end();
    else if (type === "p") {
      if (text === this.#password) socket.write(welcome());
      else socket.end(errorMessage("28P01", "password authentication failed"));
    } else if (type === "Q") this.#reply(socket, this.#answer(text));
  }

  #reply(socket: Socket, answer: FakeAnswer): void {
    if (answer === "silence") return;
    if (answer === "close") return void socket.destroy();
    if ("sqlState" in answer) {
      socket.write(Buffer.concat([errorMessage(answer.sqlState, answer.message), ready()]));
      return;
    }
    const columns = Object.keys(answer.rows[0] ?? {});
    const description = columns.map((name) =>
      Buffer.concat([text0(name), int32(0), int16(0), int32(25), int16(-1), int32(-1), int16(0)]),
    );
    const rows = answer.rows.map((row) =>
      typed("D", int16(columns.length), ...columns.map((name) => field(row[name] ?? null))),
    );
    const messages = columns.length === 0 ? [] : [typed("T", int16(columns.length), ...description), ...rows];
    socket.write(Buffer.concat([...messages, typed("C", text0(answer.tag ?? `SELECT ${rows.length}`)), ready()]));
  }
}

/** A pooler also needs the key of the connection, and what it keeps the same for all of its clients. */
function welcome(): Buffer {
  const parameters = { server_version: "15.4", client_encoding: "UTF8", DateStyle: "ISO", TimeZone: "UTC" };
  const stated = Object.entries({ ...parameters, standard_conforming_strings: "on" });
  return Buffer.concat([
    typed("R", int32(0)),
    ...stated.map(([name, value]) => typed("S", text0(name), text0(value))),
    typed("K", int32(1), int32(1)),
    ready(),
  ]);
}

function ready(): Buffer {
  return typed("Z", Buffer.from("I"));
}

function errorMessage(sqlState: string, message: string): Buffer {
  return typed("E", text0(`SERROR`), text0(`C${sqlState}`), text0(`M${message}`), Buffer.from([0]));
}

function field(value: string | null): Buffer {
  return value === null ? int32(-1) : Buffer.concat([int32(Buffer.byteLength(value)), Buffer.from(value)]);
}

function typed(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

function text0(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}
