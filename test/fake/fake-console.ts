/** The console of a PgBouncer, as a server of PostgreSQL's protocol (version 3) that also misbehaves. */
import { createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { TLSSocket } from "node:tls";
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from "node:crypto";
import { listenDuringTest } from "./listen.ts";

/** A row: each column as text, or `null`. */
type FakeRow = Readonly<Record<string, string | number | null>>;

/** The answer to one command. Bytes are sent as they are, without an end. */
export type ConsoleAnswer =
  readonly FakeRow[] | { readonly error: string; readonly severity?: "ERROR" | "FATAL" } | Buffer | "silence" | "close";

/** How a client shows who it is. */
export type FakeLogin =
  | { readonly kind: "trust" }
  | { readonly kind: "clear" | "md5" | "scram"; readonly password: string }
  | { readonly kind: "denied"; readonly message: string }
  /** Sent in place of an answer to the start of the client. */
  | { readonly kind: "bytes"; readonly bytes: Buffer }
  | { readonly kind: "silence" };

const tlsRequest = 80_877_103;
const iterations = 4096;

/** Answers commands by what a test gives: a table of commands, or a function. */
export class FakeConsole {
  /** The commands, in the order in which they came. */
  readonly commands: string[] = [];
  /** What clients said at their start, and `X` for each that ended politely. */
  readonly starts: string[] = [];
  /** The `application_name` of each open connection. */
  readonly names = new Map<Socket, string>();
  answer: (command: string) => ConsoleAnswer | Promise<ConsoleAnswer>;
  login: FakeLogin = { kind: "trust" };
  /** The certificate and key of its TLS; `null`: it offers none. */
  tls: { readonly cert: string; readonly key: string } | null = null;
  port = 0;
  readonly #open = new Set<Socket>();

  constructor(answer: FakeConsole["answer"] | Readonly<Record<string, ConsoleAnswer>> = {}) {
    this.answer =
      typeof answer === "function"
        ? answer
        : (command) => answer[command] ?? { error: `invalid command '${command}', use SHOW HELP;` };
  }

  /** Listens on 127.0.0.1 until the test is over. */
  async listen(context: TestContext): Promise<void> {
    this.port = await listenDuringTest(context, this.server());
    context.after(() => this.cut());
  }

  /** A server that is not listening yet. */
  server(): Server {
    return createServer((socket) => this.#accept(socket));
  }

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** SHOW CLIENTS of the consoles that have logged in and not ended, as far as rolecall reads it. */
  shownClients(): readonly FakeRow[] {
    return [...this.names].map(([, name], at) => ({ state: "active", ptr: `0x${at + 1}`, application_name: name }));
  }

  /** Sends bytes to every client, unasked. */
  send(bytes: Buffer): void {
    for (const socket of this.#open) socket.write(bytes);
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#open.size;
  }

  #accept(socket: Socket): void {
    this.#open.add(socket);
    socket
      .on("close", () => {
        this.#open.delete(socket);
        this.names.delete(socket);
      })
      .on("error", () => {});
    socket.once("data", (first: Buffer) => this.#begin(socket, first));
  }

  #begin(socket: Socket, first: Buffer): void {
    if (first.length < 8 || first.readInt32BE(4) !== tlsRequest) return void new FakeClient(this, socket, first);
    if (this.tls === null) return void socket.end("N");
    socket.write("S");
    const secured = new TLSSocket(socket, { isServer: true, ...this.tls });
    secured.on("error", () => {});
    secured.once("data", (start: Buffer) => void new FakeClient(this, secured, start));
  }
}

/** One client of the fake. */
class FakeClient {
  readonly #console: FakeConsole;
  readonly #socket: Socket;
  readonly #salt = randomBytes(4);
  #scram: { readonly nonce: string; readonly first: string; readonly salt: Buffer } | null = null;
  #pending: Buffer = Buffer.alloc(0);
  #isStarted = false;

  constructor(console: FakeConsole, socket: Socket, first: Buffer) {
    this.#console = console;
    this.#socket = socket;
    this.#read(first);
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
  }

  #read(chunk: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    for (;;) {
      const head = this.#isStarted ? 1 : 0;
      if (this.#pending.length < head + 4) return;
      const length = head + this.#pending.readInt32BE(head);
      if (this.#pending.length < length) return;
      const message = this.#pending.subarray(0, length);
      this.#pending = this.#pending.subarray(length);
      if (this.#isStarted) this.#receive(message.toString("latin1", 0, 1), message.subarray(5));
      else this.#start(message);
    }
  }

  #start(message: Buffer): void {
    this.#isStarted = true;
    const words = message.toString("utf8", 8).split("\0").filter(Boolean);
    this.#console.starts.push(words.join(" "));
    this.#console.names.set(this.#socket, words[words.indexOf("application_name") + 1] ?? "");
    const { login } = this.#console;
    switch (login.kind) {
      case "trust":
        return this.#welcome();
      case "clear":
        return this.#send(typed("R", int32(3)));
      case "md5":
        return this.#send(typed("R", int32(5), this.#salt));
      case "scram":
        return this.#send(typed("R", int32(10), zeroEnded("SCRAM-SHA-256"), Buffer.from([0])));
      case "denied":
        return void this.#socket.end(errorMessage("FATAL", login.message));
      case "bytes":
        return this.#send(login.bytes);
      case "silence":
    }
  }

  #receive(type: string, body: Buffer): void {
    if (type === "X") this.#console.starts.push("X");
    else if (type === "p") this.#password(body);
    else if (type === "Q") {
      const command = body.toString("utf8", 0, body.length - 1);
      this.#console.commands.push(command);
      void Promise.resolve(this.#console.answer(command)).then((answer) => this.#reply(answer));
    }
  }

  #password(body: Buffer): void {
    const { login } = this.#console;
    if (login.kind === "scram") return this.#answerScram(body, login.password);
    const given = body.toString("utf8", 0, body.length - 1);
    const expected =
      login.kind === "md5" ? md5Of(login.password, this.#salt) : login.kind === "clear" ? login.password : "";
    if (given === expected) this.#welcome();
    else this.#socket.end(errorMessage("FATAL", "password authentication failed"));
  }

  /** RFC 5802 and 7677, as PgBouncer does it. */
  #answerScram(body: Buffer, password: string): void {
    if (this.#scram === null) {
      const first = body.toString("utf8", body.indexOf(0) + 5).replace(/^n,,/, "");
      const nonce = `${/r=([^,]+)/.exec(first)?.[1] ?? ""}${randomBytes(9).toString("base64")}`;
      const salt = randomBytes(16);
      this.#scram = { nonce, first, salt };
      return this.#send(typed("R", int32(11), Buffer.from(`r=${nonce},s=${salt.toString("base64")},i=${iterations}`)));
    }
    const { nonce, first, salt } = this.#scram;
    const [, bare = "", proof = ""] = /^(.*),p=(.*)$/.exec(body.toString("utf8")) ?? [];
    const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
    const signed = `${first},r=${nonce},s=${salt.toString("base64")},i=${iterations},${bare}`;
    const key = hmac(salted, "Client Key");
    const signature = hmac(createHash("sha256").update(key).digest(), signed);
    const expected = Buffer.from(key.map((byte, at) => byte ^ (signature[at] ?? 0)));
    const given = Buffer.from(proof, "base64");
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      return void this.#socket.end(errorMessage("FATAL", "SASL authentication failed"));
    const verifier = hmac(hmac(salted, "Server Key"), signed).toString("base64");
    this.#send(typed("R", int32(12), Buffer.from(`v=${verifier}`)));
    this.#welcome();
  }

  #reply(answer: ConsoleAnswer): void {
    if (answer === "silence") return;
    if (answer === "close") return void this.#socket.destroy();
    if (Buffer.isBuffer(answer)) return this.#send(answer);
    if (!("error" in answer)) return this.#send(Buffer.concat([rowsMessage(answer), ready]));
    const { severity = "ERROR", error } = answer;
    if (severity === "FATAL") this.#socket.end(errorMessage(severity, error));
    else this.#send(Buffer.concat([errorMessage(severity, error), ready]));
  }

  #welcome(): void {
    const parameters = typed("S", zeroEnded("server_version"), zeroEnded("1.24.1/bouncer"));
    this.#send(Buffer.concat([typed("R", int32(0)), parameters, typed("K", int32(7), int32(9)), ready]));
  }

  #send(bytes: Buffer): void {
    if (!this.#socket.destroyed) this.#socket.write(bytes);
  }
}

/** Rows of one shape, with what describes them and the end of the command. */
export function rowsMessage(rows: readonly FakeRow[]): Buffer {
  const columns = Object.keys(rows[0] ?? {});
  const description = columns.map((name) =>
    Buffer.concat([zeroEnded(name), int32(0), int16(0), int32(25), int16(-1), int32(-1), int16(0)]),
  );
  const data = rows.map((row) => typed("D", int16(columns.length), ...columns.map((name) => value(row[name] ?? null))));
  const described = columns.length === 0 ? [] : [typed("T", int16(columns.length), ...description)];
  return Buffer.concat([...described, ...data, typed("C", zeroEnded("SHOW"))]);
}

/** A message: its type, its length and its parts. */
export function typed(type: string, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

export function errorMessage(severity: string, message: string): Buffer {
  const fields = [`S${severity}`, `V${severity}`, "C08P01", `M${message}`].map(zeroEnded);
  return typed("E", ...fields, Buffer.from([0]));
}

/** What ends an answer. */
export const ready: Buffer = typed("Z", Buffer.from("I"));

export function int32(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(number);
  return bytes;
}

export function int16(number: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(number);
  return bytes;
}

export function zeroEnded(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}

function value(content: string | number | null): Buffer {
  if (content === null) return int32(-1);
  const text = String(content);
  return Buffer.concat([int32(Buffer.byteLength(text)), Buffer.from(text)]);
}

function md5Of(password: string, salt: Buffer): string {
  const inner = createHash("md5").update(`${password}rolecall`).digest("hex");
  return `md5${createHash("md5").update(inner).update(salt).digest("hex")}`;
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
