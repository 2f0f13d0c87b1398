import { readFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { isObject, parseJson, type JsonObject } from "../../cluster/values/json.ts";
import { CommandError } from "../framework/command-error.ts";
import { withDeadline } from "./deadline.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { errorMessage } from "../result/error-message.ts";

/** A response of a running rolecall. */
export interface RolecallReply {
  readonly status: number;
  readonly phrase: string;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** A request to a running rolecall. */
export interface RolecallRequest {
  readonly method: string;
  readonly path: string;
  /** Sent as JSON; `undefined` sends no body. */
  readonly body?: unknown;
}

/** The default addresses of a running rolecall: of its health listener and of its admin listener. */
export const defaultServers = { node: "http://127.0.0.1:8008", admin: "http://127.0.0.1:9108" } as const;

/** The maximum size of a response, in bytes. */
const responseMax = 16 * 1024 * 1024;

/** HTTP client for a running rolecall. Uses one connection per request, and limits the duration of each. */
export class RolecallClient {
  readonly url: string;
  readonly #base: URL;
  readonly #timeoutMs: number;
  readonly #headers: { readonly [name: string]: string };
  readonly #ca: string | null;
  readonly #signal: AbortSignal;

  /**
   * @param defaultTimeout the timeout of each request unless `--timeout` is given, such as `10s`
   * @throws CommandError if an option is not valid or a file cannot be read
   */
  constructor({ args, signal }: CommandContext, listener: keyof typeof defaultServers, defaultTimeout: string = "10s") {
    const text = args.text("server") ?? defaultServers[listener];
    if (!URL.canParse(text) || !/^https?:\/\/[^/?#@]+\/?$/i.test(text)) {
      throw new CommandError(
        "RC001",
        `--server must be a URL such as ${defaultServers[listener]}, got ${JSON.stringify(text)}`,
      );
    }
    this.#base = new URL(text);
    this.url = this.#base.origin;
    this.#timeoutMs = args.duration("timeout", defaultTimeout);
    this.#headers = credentials(args.text("token-file"), args.text("user-file"));
    const ca = args.text("ca");
    this.#ca = ca === null ? null : readLine("ca", ca);
    this.#signal = signal;
  }

  /** @throws CommandError (RC005) if there is no response within the timeout */
  get(path: string): Promise<RolecallReply> {
    return this.call({ method: "GET", path });
  }

  /** Requests a JSON object. @throws CommandError (RC007) if the status is not 200 or the body is not an object */
  async getObject(path: string): Promise<JsonObject> {
    return this.objectOf(path, await this.getPage(path));
  }

  /** Requests a page that is rendered for one client at a time. While it is busy (429), retries until the timeout. */
  async getPage(path: string): Promise<RolecallReply> {
    const endMs = performance.now() + this.#timeoutMs;
    for (;;) {
      const reply = await this.get(path);
      const waitMs = 1_000 * Number(reply.headers["retry-after"] ?? NaN);
      if (reply.status !== 429 || !(performance.now() + waitMs < endMs)) return reply;
      await pause(waitMs, undefined, { signal: this.#signal }).catch(() => {}); // the next request reports the abort
    }
  }

  /**
   * Parses a response as a JSON object.
   * @throws CommandError (RC007) if the status is not 200 or it is not an object
   */
  objectOf(path: string, reply: RolecallReply): JsonObject {
    const value = parseJson(reply.text);
    if (reply.status !== 200 || !isObject(value)) {
      throw new CommandError(
        "RC007",
        `Cannot read ${this.url}${path}: it must be 200 with a JSON object, ` +
          `got ${reply.status} ${reply.phrase}: ${replyMessage(reply)}`,
      );
    }
    return value;
  }

  /** Sends a request. @throws CommandError (RC005) if there is no response within the timeout */
  call({ method, path, body }: RolecallRequest): Promise<RolecallReply> {
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
  ): Promise<RolecallReply> {
    return new Promise((resolve, reject) => {
      const onError = (error: Error): void => {
        const cause = options.signal.aborted ? `no response within ${this.#timeoutMs} ms` : error.message;
        reject(new CommandError("RC005", `Cannot reach rolecall at ${this.url}: ${cause}`));
      };
      const request =
        url.protocol === "https:"
          ? httpsRequest(url, { ...options, ...(this.#ca === null ? {} : { ca: this.#ca }) })
          : httpRequest(url, options);
      request.once("error", onError);
      request.once("response", (message) => {
        readAll(message).then(
          (body) =>
            resolve({
              status: message.statusCode ?? 0,
              phrase: message.statusMessage ?? "",
              headers: message.headers,
              text: body,
            }),
          onError,
        );
      });
      request.end(text ?? undefined);
    });
  }
}

/** The error message of a response: `message` of its JSON body, else the start of its text. */
export function replyMessage({ text }: RolecallReply): string {
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
    if (length > responseMax) throw new Error(`the response has more than ${responseMax} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function credentials(tokenFile: string | null, userFile: string | null): { readonly [name: string]: string } {
  if (tokenFile !== null && userFile !== null)
    throw new CommandError("RC001", "--token-file and --user-file cannot be used together");
  if (tokenFile !== null) return { Authorization: `Bearer ${readLine("token-file", tokenFile)}` };
  if (userFile !== null)
    return { Authorization: `Basic ${Buffer.from(readLine("user-file", userFile)).toString("base64")}` };
  return {};
}

function readLine(option: string, file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new CommandError("RC006", `Cannot read --${option}: ${errorMessage(error)}`);
  }
}
