import { readFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { isObject, parseJson, type JsonObject } from "../../cluster/values/json.ts";
import { CommandError } from "../framework/command.ts";
import { withDeadline } from "./deadline.ts";
import type { CommandContext } from "../framework/command-context.ts";

/** An answer of a running rolecall. */
export interface ServerReply {
  readonly status: number;
  readonly phrase: string;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** A call that changes something. */
export interface Call {
  readonly method: string;
  readonly path: string;
  /** Sent as JSON; `undefined` sends none. */
  readonly body?: unknown;
}

/** Where a command finds the running rolecall when nothing is said. */
export const defaultServers = { node: "http://127.0.0.1:8008", admin: "http://127.0.0.1:9108" } as const;

/** The longest answer that is read, in bytes. */
const answerMax = 16 * 1024 * 1024;

/** A running rolecall, asked over HTTP; one connection a question, each with a deadline. */
export class Server {
  readonly url: string;
  readonly #base: URL;
  readonly #timeoutMs: number;
  readonly #headers: { readonly [name: string]: string };
  readonly #ca: string | null;
  readonly #signal: AbortSignal;

  /** @throws Stop where an option cannot be used */
  constructor({ args, signal }: CommandContext, listener: keyof typeof defaultServers, patience: string = "10s") {
    const text = args.text("server") ?? defaultServers[listener];
    if (!URL.canParse(text) || !/^https?:\/\/[^/?#@]+\/?$/i.test(text)) {
      throw new CommandError(
        "RC001",
        `--server must be an address such as ${defaultServers[listener]}: it is ${JSON.stringify(text)}`,
      );
    }
    this.#base = new URL(text);
    this.url = this.#base.origin;
    this.#timeoutMs = args.duration("timeout", patience);
    this.#headers = credentials(args.text("token-file"), args.text("user-file"));
    const ca = args.text("ca");
    this.#ca = ca === null ? null : readLine("ca", ca);
    this.#signal = signal;
  }

  get(path: string): Promise<ServerReply> {
    return this.call({ method: "GET", path });
  }

  /** Asks for a JSON object. @throws Stop (RC007) where the answer is none, or not 200 */
  async getObject(path: string): Promise<JsonObject> {
    return this.objectOf(path, await this.getPage(path));
  }

  /** Requests a page that is rendered for one client at a time: waits, as long as the answer may take, while it is busy. */
  async getPage(path: string): Promise<ServerReply> {
    const endMs = performance.now() + this.#timeoutMs;
    for (;;) {
      const reply = await this.get(path);
      const waitMs = 1_000 * Number(reply.headers["retry-after"] ?? NaN);
      if (reply.status !== 429 || !(performance.now() + waitMs < endMs)) return reply;
      await pause(waitMs, undefined, { signal: this.#signal }).catch(() => {}); // the next request tells what ended it
    }
  }

  /** The JSON object of an answer. @throws Stop (RC007) where it is none, or not 200 */
  objectOf(path: string, reply: ServerReply): JsonObject {
    const value = parseJson(reply.text);
    if (reply.status !== 200 || !isObject(value)) {
      throw new CommandError(
        "RC007",
        `${this.url}${path} answered ${reply.status} ${reply.phrase} where a document was expected: ${messageOf(reply)}`,
      );
    }
    return value;
  }

  /** @throws Stop (RC005) where there is no answer within the deadline */
  call({ method, path, body }: Call): Promise<ServerReply> {
    const text = body === undefined ? null : JSON.stringify(body);
    const headers = {
      ...this.#headers,
      Accept: "application/json",
      ...(text === null
        ? {}
        : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(text)) }),
    };
    return withDeadline(this.#timeoutMs, [this.#signal], (deadline) =>
      this.#exchange(new URL(path, this.#base), { method, headers, agent: false, signal: deadline }, text),
    );
  }

  #exchange(
    url: URL,
    options: RequestOptions & { readonly signal: AbortSignal },
    text: string | null,
  ): Promise<ServerReply> {
    return new Promise((resolve, reject) => {
      const onError = (error: Error): void => {
        const why = options.signal.aborted ? `no answer within ${this.#timeoutMs} ms` : error.message;
        reject(new CommandError("RC005", `Cannot reach rolecall at ${this.url}: ${why}`));
      };
      const request =
        url.protocol === "https:"
          ? httpsRequest(url, { ...options, ...(this.#ca === null ? {} : { ca: this.#ca }) })
          : httpRequest(url, options);
      request.once("error", onError);
      request.once("response", (message) => {
        readAll(message).then(
          (answer) =>
            resolve({
              status: message.statusCode ?? 0,
              phrase: message.statusMessage ?? "",
              headers: message.headers,
              text: answer,
            }),
          onError,
        );
      });
      request.end(text ?? undefined);
    });
  }
}

/** What an answer says for people: the message of our own errors, else its text, cut. */
export function messageOf({ text }: ServerReply): string {
  const value = parseJson(text);
  const message = isObject(value) ? value["message"] : undefined;
  return typeof message === "string"
    ? message
    : text
        .replaceAll(/<[^>]*>/g, " ")
        .replaceAll(/\s+/g, " ")
        .trim()
        .slice(0, 300);
}

async function readAll(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > answerMax) throw new Error(`an answer of more than ${answerMax} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function credentials(tokenFile: string | null, userFile: string | null): { readonly [name: string]: string } {
  if (tokenFile !== null && userFile !== null)
    throw new CommandError("RC001", "--token-file and --user-file cannot both be given");
  if (tokenFile !== null) return { Authorization: `Bearer ${readLine("token-file", tokenFile)}` };
  if (userFile !== null)
    return { Authorization: `Basic ${Buffer.from(readLine("user-file", userFile)).toString("base64")}` };
  return {};
}

function readLine(option: string, file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new CommandError(
      "RC006",
      `Cannot read --${option}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
