import { Agent, type Dispatcher } from "undici";
import type { Failure } from "../../../core/cluster/values/failure.ts";
import { objectOf, parseJson, type JsonObject } from "../../../core/cluster/values/json.ts";
import { failureOf } from "../../../core/probe/client/failure.ts";
import { ResponseBody } from "../../../core/probe/client/response-body.ts";
import { exceedsLimits } from "../../../core/probe/parse/json-size.ts";
import type { ApiAccess } from "./api-access.ts";

/** A call to the API server. */
export interface ApiCall {
  readonly method: "GET" | "POST" | "PUT" | "PATCH";
  /** Path and query. */
  readonly path: string;
  readonly body?: object;
  readonly contentType?: string;
}

/** What the API server answers, or why it does not. */
export type ApiReply =
  | { readonly kind: "answered"; readonly status: number; readonly body: JsonObject }
  | { readonly kind: "failed"; readonly failure: Failure };

/**
 * Why a call came to nothing. `away`: the server does not answer, or is not able to; `forbidden`: it does not let rolecall;
 * `refused`: it refuses this very call.
 */
export interface ApiProblem {
  readonly kind: "away" | "forbidden" | "refused";
  readonly text: string;
}

/** What a GET whose response goes on has brought: the response (`open`), or what {@link ApiReply} says. */
export type ApiStream = ApiReply | { readonly kind: "open"; readonly body: AsyncIterable<Buffer> };

/** What calls depend on. */
export interface ApiClientContext {
  /** Reads where the API server is again. Throws an Error if a file cannot be read. */
  readonly readAccess: () => ApiAccess;
  /** A monotonic clock, in ms. */
  readonly now: () => number;
  /** The deadline of a call, in ms. Default: 5 s. */
  readonly callMs?: number;
  /** A call has ended, with this status; `null`: without an answer. */
  readonly onEnd?: (call: Pick<ApiCall, "method" | "path">, status: number | null) => void;
}

interface KnownServer {
  readonly access: ApiAccess;
  /** A watch holds its connection: what waits for one must not wait for watches. */
  readonly calls: Agent;
  readonly watches: Agent;
  readonly readAtMs: number;
}

/** The deadline of a call, in ms. */
const usualCallMs = 5_000;
/** The longest answer, in bytes, and how many values it may have: a page of a list. */
const bodyMax = 8 * 1024 * 1024;
const json = { members: 400_000, separators: 400_000 };
/** The most connections for calls, beside those of watches, of which each has its own. */
const connectionsMax = 32;
/** How often the files are read again, in ms: kubelet replaces a token long before it ends. */
const accessMs = 30_000;
/** How long nothing is sent to a server that could not be reached, in ms. */
const unreachedMs = 200;
/** How long the server is left alone after 429 without a time of its own, in ms, and at the most. */
const pauseMs = { usual: 1_000, most: 30_000 } as const;

/** Calls the API server of Kubernetes. After 401 the token is read again, and the call is sent once more. */
export class ApiClient {
  readonly #context: ApiClientContext;
  #known: KnownServer | null = null;
  #pausedUntilMs = -Infinity;
  /** Since when the server cannot be reached, by the last try; -Infinity: it can. */
  #unreachedAtMs = -Infinity;

  constructor(context: ApiClientContext) {
    this.#context = context;
  }

  /** For how long the server has asked to be left alone, in ms; 0: it has not. */
  get pauseMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#context.now());
  }

  /** The namespace of the pod or of the context. @throws Error if a file cannot be read */
  get namespace(): string {
    return this.#current().access.namespace;
  }

  /** Sends a call. Always resolves, within a deadline. */
  async call(call: ApiCall): Promise<ApiReply> {
    const reply = await this.#send(call);
    if (reply.kind !== "answered" || reply.status !== 401) return reply;
    this.#readAgain();
    return this.#send(call);
  }

  /** Sends a GET whose response goes on until it ends or is aborted. Always resolves, when the signal is aborted at the latest. */
  async open(path: string, signal: AbortSignal): Promise<ApiStream> {
    const down = this.#down();
    if (down !== null) return failed(down);
    const call = { method: "GET", path } as const;
    try {
      const { statusCode, body } = await this.#request(call, signal, "watches");
      this.#context.onEnd?.(call, statusCode);
      if (statusCode === 200) return { kind: "open", body };
      if (statusCode === 401) this.#readAgain();
      return answered(statusCode, await textOf(body));
    } catch (error) {
      this.#fail(call);
      return failed(failureOf(error));
    }
  }

  /** Closes all connections: calls in flight fail. */
  close(): void {
    for (const agent of this.#known === null ? [] : [this.#known.calls, this.#known.watches])
      agent.destroy().catch(() => {
        // Nothing more can be done about a connection that cannot be closed.
      });
    this.#known = null;
  }

  async #send(call: ApiCall): Promise<ApiReply> {
    const down = this.#down();
    if (down !== null) return failed(down);
    const ending = new AbortController();
    const { callMs = usualCallMs } = this.#context;
    const timer = setTimeout(() => ending.abort(), callMs);
    try {
      const { statusCode, body } = await this.#request(call, ending.signal, "calls");
      const reply = answered(statusCode, await textOf(body));
      this.#context.onEnd?.(call, statusCode);
      return reply;
    } catch (error) {
      this.#fail(call);
      return failed(
        ending.signal.aborted ? { kind: "timeout", detail: `no answer within ${callMs} ms` } : failureOf(error),
      );
    } finally {
      clearTimeout(timer);
    }
  }

  #fail(call: Pick<ApiCall, "method" | "path">): void {
    const { now, onEnd } = this.#context;
    this.#unreachedAtMs = now();
    onEnd?.(call, null);
  }

  /** @throws the error of a file or of the connection */
  async #request(call: ApiCall, signal: AbortSignal, purpose: "calls" | "watches"): Promise<Dispatcher.ResponseData> {
    const { access, [purpose]: agent } = this.#current();
    const response = await agent.request({ ...optionsOf(access, call), signal });
    this.#unreachedAtMs = -Infinity;
    this.#heed(response);
    return response;
  }

  /** The token may have been replaced: it is read before the next call. */
  #readAgain(): void {
    if (this.#known !== null) this.#known = { ...this.#known, readAtMs: -Infinity };
  }

  /** @throws Error if a file cannot be read, and none could before */
  #current(): KnownServer {
    const nowMs = this.#context.now();
    const known = this.#known;
    if (known !== null && nowMs - known.readAtMs < accessMs) return known;
    let access: ApiAccess;
    try {
      access = this.#context.readAccess();
    } catch (error) {
      // A file that is replaced just now: what is known may do until the next look.
      if (known === null) throw error;
      this.#known = { ...known, readAtMs: nowMs };
      return known;
    }
    const isSameServer =
      known !== null &&
      JSON.stringify([access.origin, access.tls]) === JSON.stringify([known.access.origin, known.access.tls]);
    if (known !== null && isSameServer) return (this.#known = { ...known, access, readAtMs: nowMs });
    void known?.calls.close();
    void known?.watches.close();
    const [calls, watches] = [agentFor(access, connectionsMax), agentFor(access, null)];
    return (this.#known = { access, calls, watches, readAtMs: nowMs });
  }

  /** Why nothing is sent now: while the server is out of reach, all watches together try it a few times a second. */
  #down(): Failure | null {
    if (this.#context.now() - this.#unreachedAtMs >= unreachedMs) return null;
    return { kind: "unreachable", detail: "the API server was out of reach just now" };
  }

  #heed({ statusCode: status, headers }: Dispatcher.ResponseData): void {
    if (status !== 429 && status !== 503) return;
    const seconds = Number(headers["retry-after"]);
    if (status === 503 && !(seconds > 0)) return;
    const wantedMs = seconds > 0 ? seconds * 1_000 : pauseMs.usual;
    this.#pausedUntilMs = this.#context.now() + Math.min(pauseMs.most, wantedMs);
  }
}

function answered(status: number, text: string | null): ApiReply {
  return text === null
    ? failed({ kind: "too_large", detail: `a body of more than ${bodyMax} bytes, or of too many values` })
    : { kind: "answered", status, body: objectOf(parseJson(text)) };
}

/** @returns `null` if the body is too long, comes in too many pieces, or has too many values */
async function textOf(stream: AsyncIterable<Buffer>): Promise<string | null> {
  const body = new ResponseBody(bodyMax, null);
  for await (const chunk of stream) if (body.add(chunk) !== null) return null;
  return exceedsLimits(body.bytes, json) ? null : body.bytes.toString();
}

/** @param connections the most of them; `null`: as many as are asked for */
function agentFor({ tls }: ApiAccess, connections: number | null): Agent {
  return new Agent({
    connections,
    pipelining: 1,
    connect: { timeout: usualCallMs, keepAlive: true, keepAliveInitialDelay: 5_000, ...tls },
    headersTimeout: usualCallMs,
    // A watch is silent for as long as nothing changes; bookmarks come each minute.
    bodyTimeout: 0,
    maxHeaderSize: 16_384,
    keepAliveTimeout: 30_000,
  });
}

function optionsOf(
  { origin, basePath, token }: ApiAccess,
  { method, path, body, contentType = "application/json" }: ApiCall,
): Dispatcher.RequestOptions & { readonly origin: string } {
  return {
    origin,
    path: `${basePath}${path}`,
    method,
    headers: {
      accept: "application/json",
      "user-agent": "rolecall",
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": contentType }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

function failed(failure: Failure): ApiReply {
  return { kind: "failed", failure };
}

/** Why a call has not succeeded; `null`: it has. */
export function problemOf(reply: ApiReply): ApiProblem | null {
  if (reply.kind === "failed") return { kind: "away", text: reply.failure.detail };
  const { status } = reply;
  if (status < 300) return null;
  const isAway = status === 429 || status >= 500;
  const kind = status === 401 || status === 403 ? "forbidden" : isAway ? "away" : "refused";
  return { kind, text: refusalText(reply) };
}

/**
 * What an answer that is no success means, for people: status, and the server's message. Of 403 the right that is missing
 * is in the message: `User "x" cannot patch resource "endpointslices" in API group …`.
 */
export function refusalText({
  status,
  body,
}: Pick<Extract<ApiReply, { kind: "answered" }>, "status" | "body">): string {
  const { message, reason } = body;
  const said = typeof message === "string" && message !== "" ? message : typeof reason === "string" ? reason : "";
  return `status ${status}${said === "" ? "" : `: ${said.slice(0, 300)}`}`;
}
