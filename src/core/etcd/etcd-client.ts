import type { Socket } from "node:net";
import { Agent, type Dispatcher } from "undici";
import type { AccessMaterial } from "../config/access-material.ts";
import type { Failure } from "../cluster/values/failure.ts";
import { isObject, parseJson } from "../cluster/values/json.ts";
import { connectorOf } from "../probe/client/connector.ts";
import { failureOf } from "../probe/client/failure.ts";
import { ResponseBody } from "../probe/client/response-body.ts";
import { TokenBucket } from "../probe/client/token-bucket.ts";
import { exceedsLimits, type JsonLimits } from "../probe/parse/json-size.ts";
import { errorMessageOf } from "./etcd-messages.ts";

/** The response to one call, or why there is none. */
export type EtcdReply = { readonly status: number; readonly body: unknown } | { readonly failure: Failure };

/** A response whose body is read as it comes. */
export interface EtcdStream {
  readonly status: number;
  readonly body: AsyncIterable<Buffer>;
}

/** The longest response to a call, in bytes, and how many values it may have. */
interface CallLimits {
  readonly bodyMax: number;
  readonly json: JsonLimits;
}

/** What etcd may send. */
export interface EtcdLimits extends CallLimits {
  /** Of calls whose responses are longer, by path. */
  readonly byPath?: ReadonlyMap<string, CallLimits>;
  /** What one connection may bring, in bytes. */
  readonly connection: { readonly perSecond: number; readonly burst: number };
}

/** One connection for the watch, and one for reads. */
const connectionsMax = 2;

/** What etcd answers to a call without a valid token: also after a restart, because it forgets simple tokens. */
const badToken = /invalid auth token|auth token is not provided|user name is empty|revision in header is old/;
/** A token that can be a header: simple tokens and JWT are shorter. */
const tokenPattern = /^[\x21-\x7e]{1,8192}$/;
const noAuthentication = /authentication is not enabled/;

/** Calls one etcd member through its JSON gateway, with a deadline for each request. */
export class EtcdClient {
  readonly #origin: string;
  readonly #agent: Agent;
  readonly #auth: AccessMaterial["auth"];
  readonly #timeoutMs: number;
  readonly #limits: EtcdLimits;
  #token: string | null = null;

  /** @param origin `http://host:port` or `https://host:port` */
  constructor(
    origin: string,
    { tls, auth }: AccessMaterial,
    { timeoutMs, limits }: { readonly timeoutMs: number; readonly limits: EtcdLimits },
  ) {
    this.#origin = origin;
    this.#limits = limits;
    this.#auth = auth;
    this.#timeoutMs = timeoutMs;
    this.#agent = new Agent({
      connections: connectionsMax,
      pipelining: 1,
      connect: connectorOf(timeoutMs, tls, (socket) => limitBytes(socket, limits.connection)),
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 16_384,
      keepAliveTimeout: 30_000,
    });
  }

  /** Sends a call, with a new token if etcd does not accept the present one. Always resolves. */
  async call(path: string, request: object): Promise<EtcdReply> {
    const problem = await this.authenticate();
    if (problem !== null) return { failure: problem };
    const reply = await this.#send(path, request);
    if (this.#auth === null || !isUnauthorized(reply)) return reply;
    this.#token = null;
    const refused = await this.authenticate();
    return refused === null ? this.#send(path, request) : { failure: refused };
  }

  /** Gets a token, unless there is one or none is needed. @returns why etcd gave none, or `null` */
  async authenticate(): Promise<Failure | null> {
    if (this.#auth === null || this.#token !== null) return null;
    const { user, password } = this.#auth;
    const reply = await this.#send("/v3/auth/authenticate", { name: user, password });
    if ("failure" in reply) return reply.failure;
    const token = isObject(reply.body) ? reply.body["token"] : null;
    if (reply.status === 200 && typeof token === "string" && tokenPattern.test(token)) this.#token = token;
    else if (noAuthentication.test(errorMessageOf(reply.body) ?? "")) this.#token = "";
    else return { kind: "status", detail: `etcd refuses user ${user}: ${statusText(reply)}` };
    return null;
  }

  /**
   * Sends a request whose response goes on. A token that etcd does not accept is replaced by the next call.
   * @param signal ends the request
   * @throws the error of the connection
   */
  async open(path: string, request: object, signal: AbortSignal): Promise<EtcdStream> {
    const { statusCode, body } = await this.#agent.request({ ...this.#options(path, request), signal });
    if (statusCode === 401) this.#token = null;
    return { status: statusCode, body };
  }

  /** Closes the connections. Requests in flight fail. */
  close(): void {
    this.#agent.destroy().catch(() => {
      // Nothing more can be done about a connection that cannot be closed.
    });
  }

  async #send(path: string, request: object): Promise<EtcdReply> {
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(), this.#timeoutMs);
    try {
      const { statusCode, body } = await this.#agent.request({
        ...this.#options(path, request),
        signal: ending.signal,
      });
      const limits = this.#limits.byPath?.get(path) ?? this.#limits;
      const text = await textOf(body, limits);
      if (text === null)
        return {
          failure: {
            kind: "too_large",
            detail: `a body of more than ${limits.bodyMax} bytes, or of too many values`,
          },
        };
      return { status: statusCode, body: parseJson(text) };
    } catch (error) {
      if (ending.signal.aborted)
        return { failure: { kind: "timeout", detail: `no answer within ${this.#timeoutMs} ms` } };
      return { failure: failureOf(error) };
    } finally {
      clearTimeout(timer);
    }
  }

  #options(path: string, request: object): Dispatcher.RequestOptions & { readonly origin: string } {
    const token = this.#token === null || this.#token === "" ? {} : { authorization: this.#token };
    // The gateway passes this on as the metadata `hasleader`: a member without a leader ends the watch.
    const headers = { "content-type": "application/json", "grpc-metadata-hasleader": "true", ...token };
    return { origin: this.#origin, path, method: "POST", headers, body: JSON.stringify(request) };
  }
}

/** A response that is no 200, for people. */
export function statusText({ status, body }: Pick<Extract<EtcdReply, { status: number }>, "status" | "body">): string {
  const message = errorMessageOf(body);
  return `status ${status}${message === null ? "" : `, ${message}`}`;
}

function isUnauthorized(reply: EtcdReply): boolean {
  return "status" in reply && reply.status !== 200 && (reply.status === 401 || badToken.test(messageOf(reply.body)));
}

function messageOf(body: unknown): string {
  return errorMessageOf(body) ?? "";
}

/** @returns `null` if the body is too long, comes in too many pieces, or has too many values */
async function textOf(stream: AsyncIterable<Buffer>, { bodyMax, json }: CallLimits): Promise<string | null> {
  const body = new ResponseBody(bodyMax, null);
  for await (const chunk of stream) if (body.add(chunk) !== null) return null;
  return exceedsLimits(body.bytes, json) ? null : body.bytes.toString();
}

/** Ends a connection that brings more bytes than any etcd sends, also in what is no body, such as chunk extensions. */
function limitBytes(socket: Socket, limits: EtcdLimits["connection"]): void {
  const bucket = new TokenBucket(limits, () => performance.now());
  let counted = 0;
  socket.on("readable", () => {
    const { bytesRead } = socket;
    if (!bucket.take(bytesRead - counted)) socket.destroy(new Error("etcd sends more bytes than it may"));
    counted = bytesRead;
  });
}
