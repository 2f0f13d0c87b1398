import { errorMessage } from "../../cluster/values/error-message.ts";
import { setTimeout as pause } from "node:timers/promises";
import { isObject, parseJson, type JsonObject } from "../../cluster/values/json.ts";
import { connectionOf } from "../connect/connection.ts";
import { readServerCredentials, type Credentials } from "../connect/credentials.ts";
import { exchangeOnce, type RolecallReply } from "../connect/exchange.ts";
import { defaultServers, findListener, type FoundListener, type ListenerKind } from "../connect/listener-finder.ts";
import type { ServerAddress } from "../contexts/server-address.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { CommandError } from "../framework/command-error.ts";
import { durationOption } from "../framework/arguments.ts";
import { withDeadline } from "./deadline.ts";
import { isFromNode, isFromWrongListener, notRolecall, wrongListener } from "./wrong-server.ts";

export type { RolecallReply } from "../connect/exchange.ts";

/** A request to a running rolecall. */
export interface RolecallRequest {
  readonly method: string;
  readonly path: string;
  /** Sent as JSON; `undefined` sends no body. */
  readonly body?: unknown;
}

/**
 * HTTP client for a running rolecall. Uses one connection per request, and limits the duration of each. If the server
 * turns out to be another listener than the command needs, the client gets the address of the right one from it.
 */
export class RolecallClient {
  readonly #listener: keyof typeof defaultServers;
  readonly #address: ServerAddress | null;
  readonly #timeoutMs: number;
  readonly #credentials: Credentials;
  readonly #signal: AbortSignal;
  #base: URL;
  /** The searches so far: one for each kind of listener, shared by its callers. */
  readonly #searches = new Map<ListenerKind, Promise<FoundListener>>();

  /**
   * @param defaults the timeout of each request unless a timeout is set, such as `10s`; or the listener that is asked if
   * the user names no server (`null`: the default address)
   * @throws CommandError if an option is not valid or a file cannot be read
   */
  constructor(
    context: CommandContext,
    listener: keyof typeof defaultServers,
    defaults: string | { readonly ownListener: URL | null } = "10s",
  ) {
    const { ownListener, timeout: defaultTimeout } =
      typeof defaults === "string" ? { ownListener: null, timeout: defaults } : { ...defaults, timeout: "10s" };
    const { settings } = connectionOf(context);
    const timeout = settings.values.get("timeout");
    this.#listener = listener;
    this.#address = settings.address;
    this.#timeoutMs = durationOption(timeout?.from ?? "--timeout", timeout?.value ?? defaultTimeout);
    this.#credentials = readServerCredentials(settings);
    this.#signal = context.signal;
    this.#base = (this.#address === null ? ownListener : null) ?? this.#defaultBase(listener);
    warnOfExposed(context, this.#credentials.exposed);
  }

  /** How long each request may take, in ms. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** The server in use. It changes when the client finds the listener that the command needs. */
  get url(): string {
    return this.#base.origin;
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
  async call(request: RolecallRequest): Promise<RolecallReply> {
    const { base, reply } = await this.#sendFirst(request);
    if (isFromNode(reply)) throw notRolecall(base);
    if (!isFromWrongListener(reply)) return reply;
    const kind = kindFor(this.#listener, request);
    const found = await this.#find(kind, base);
    // A health listener says itself that management calls are off.
    const isOff = found.kind === "missing" && kind === "management" && found.dialect === "node";
    if (found.kind === "here" || isOff) return reply;
    if (found.kind !== "found") throw wrongListener(base, kind, found);
    this.#base = found.url;
    return found.url.origin === base.origin ? reply : this.#send(found.url, request);
  }

  /**
   * Finds the listener of a kind that belongs to the server in use.
   * @returns `null` if it names none
   */
  async listenerUrl(kind: ListenerKind): Promise<URL | null> {
    const found = await this.#find(kind, this.#base);
    return found.kind === "found" ? found.url : found.kind === "here" ? this.#base : null;
  }

  #find(kind: ListenerKind, base: URL): Promise<FoundListener> {
    const search = this.#searches.get(kind) ?? findListener(base, kind, (url) => this.#describe(url));
    this.#searches.set(kind, search);
    return search;
  }

  /** Sends a request to the server. Where nobody named its port, tries that of the other listener too. */
  async #sendFirst(request: RolecallRequest): Promise<{ readonly base: URL; readonly reply: RolecallReply }> {
    const base = this.#base;
    try {
      return { base, reply: await this.#send(base, request) };
    } catch (error) {
      const isRefused = error instanceof UnreachableError && error.code === "ECONNREFUSED";
      const other = this.#defaultBase(this.#listener === "admin" ? "node" : "admin");
      if (!isRefused || this.#address?.hasPort === true || (await this.#describe(other)) === null) throw error;
      const found = await this.#find(this.#listener, other);
      this.#base = found.kind === "found" ? found.url : other;
      return { base: this.#base, reply: await this.#send(this.#base, request) };
    }
  }

  #defaultBase(listener: keyof typeof defaultServers): URL {
    if (this.#address === null) return new URL(defaultServers[listener]);
    const url = new URL(this.#address.url);
    if (!this.#address.hasPort) url.port = new URL(defaultServers[listener]).port;
    return url;
  }

  /** Requests what a listener says about itself; `null` if it does not answer. */
  #describe(base: URL): Promise<RolecallReply | null> {
    return this.#send(base, { method: "GET", path: "/livez" }).catch(() => null);
  }

  async #send(base: URL, { method, path, body }: RolecallRequest): Promise<RolecallReply> {
    const text = body === undefined ? null : JSON.stringify(body);
    const headers = {
      ...this.#credentials.headers,
      Accept: "application/json",
      ...(text === null
        ? {}
        : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(text)) }),
    };
    return withDeadline(this.#timeoutMs, [this.#signal], async (signal) => {
      try {
        const parts = { tls: this.#credentials.tls, body: text };
        return await exchangeOnce(new URL(path, base), { method, headers, signal }, parts);
      } catch (error) {
        const problem = signal.aborted ? `no response within ${this.#timeoutMs} ms` : errorMessage(error);
        const code = error instanceof Error && "code" in error ? String(error.code) : null;
        throw new UnreachableError(`Cannot reach rolecall at ${base.origin}: ${problem}`, code);
      }
    });
  }
}

/** The server did not respond. */
class UnreachableError extends CommandError {
  /** The code of the system's error, such as `ECONNREFUSED`; `null` if there is none. */
  readonly code: string | null;

  constructor(message: string, code: string | null) {
    super("RC005", message);
    this.code = code;
  }
}

/** The listener that a request needs. A call that changes something needs a health listener that forwards it. */
function kindFor(listener: keyof typeof defaultServers, { method }: RolecallRequest): ListenerKind {
  return listener === "node" && method !== "GET" ? "management" : listener;
}

/** Warns once of each file with a secret that others can read. */
function warnOfExposed({ result }: CommandContext, files: readonly string[]): void {
  for (const file of files) {
    const message = `${file} holds a secret, and every user of this machine can read it`;
    if (result.diagnostics.some((diagnostic) => diagnostic.message === message)) continue;
    result.diagnose("RC015", { message, action: `Run chmod o-rwx ${file}` });
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
