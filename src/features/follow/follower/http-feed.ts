import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Client } from "undici";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { secretProblem } from "../../../core/cluster/values/secret-destination.ts";
import { objectOf, parseJson } from "../../../core/cluster/values/json.ts";
import { withoutUnsafe } from "../../../core/cluster/values/unsafe-text.ts";
import { firstLine } from "../../../core/config/access-material.ts";
import type { UpstreamConfig } from "../../../core/config/model/config.ts";
import { socketProblem } from "../../../core/balancing/socket-problem.ts";
import { readTls } from "../../../core/config/tls-material.ts";
import {
  type DrainOrder,
  echoPath,
  feedClustersPath,
  feedDrainPath,
  feedPath,
  type FeedRequest,
  type OrderedDrain,
  orderedDrainSchema,
  readFeedMessage,
  type Selection,
} from "../feed/feed-messages.ts";
import { parseInPieces } from "../feed/piecewise-json.ts";
import type { FeedConnection, FeedSink, OpenFeed } from "./feed-connection.ts";
import { FeedTurns, UpstreamWork } from "./feed-turns.ts";

/** How long connecting, and an answer to a request, may take, in ms. */
const requestMs = 2_000;
/** How long a whole answer may take, its connection included, in ms. */
const answerMs = 2 * requestMs;
/**
 * The longest line, in characters: a cluster in full. With as many nodes as there may be, each of which lists all others,
 * it has some 5 million, and two thirds of these values.
 */
const lineMax = 8 * 1024 * 1024;
const valuesMax = { members: 250_000, separators: 250_000 } as const;
/** How a line with a cluster in full begins, as owners write it. */
const fullStart = '{"full":';
/** So many changes of a message are taken in one piece. */
const changesAtOnce = 16;
/** So many lines in a row that are no message of this version end a stream. */
const unknownMax = 100;
/** The longest text of a refusal that is read, in characters. */
const refusalMax = 4_096;

/** The connections to an upstream, with the credentials that were read when they were made. */
interface Session {
  readonly stream: Client;
  readonly tokens: Client;
  readonly headers: Readonly<Record<string, string>>;
}

/** `failed`: it could not be opened, and that is reported soon. Nothing follows `ended`. */
type FeedLife = ({ readonly kind: "open" } & Session) | { readonly kind: "failed" | "ended" };

/** The turns of this process: all its upstreams share one event loop. */
const ownTurns = new FeedTurns();

/** Opens streams of one upstream over HTTP. Its files are read for each of them. */
export function httpFeed(upstream: UpstreamConfig, turns = ownTurns): OpenFeed {
  const work = new UpstreamWork();
  return (request, sink) => new HttpFeed({ upstream, work, turns }, request, sink);
}

/** What a stream depends on. */
interface HttpFeedContext {
  readonly upstream: UpstreamConfig;
  readonly work: UpstreamWork;
  readonly turns: FeedTurns;
}

/** One stream: a request whose response does not end, and a second connection for tokens. */
class HttpFeed implements FeedConnection {
  readonly #sink: FeedSink;
  readonly #turns: FeedTurns;
  readonly #work: UpstreamWork;
  #life: FeedLife;
  /** How many clusters have yet to come in full for the first time. */
  #beginning: number;
  /** How many lines in a row were no message. */
  #unknown = 0;

  constructor({ upstream, work, turns }: HttpFeedContext, request: FeedRequest, sink: FeedSink) {
    this.#sink = sink;
    this.#work = work;
    this.#turns = turns;
    this.#beginning = request.clusters.length;
    this.#life = this.#open(upstream);
    if (this.#life.kind === "open")
      void this.#run(this.#life, request).catch((error: unknown) => this.#end(problemOf(error)));
  }

  echo(stream: string, token: number): void {
    this.#post(echoPath, { stream, token });
  }

  select(selection: Selection): void {
    this.#beginning += selection.add.length;
    this.#post(feedClustersPath, selection);
  }

  async drain(order: DrainOrder): Promise<OrderedDrain> {
    if (this.#life.kind !== "open") throw new Error("the stream has ended");
    const { tokens, headers } = this.#life;
    const body = JSON.stringify(order);
    const path = `/${feedDrainPath}`;
    const signal = AbortSignal.timeout(answerMs);
    const reply = await tokens.request({ method: "POST", path, headers, body, signal });
    if (reply.statusCode !== 200) throw new Error(await refusalOf(reply.statusCode, reply.body));
    return orderedDrainSchema.parse(parseJson(await textOf(reply.body)));
  }

  close(): void {
    const before = this.#life;
    this.#life = { kind: "ended" };
    if (before.kind !== "open") return;
    for (const client of [before.stream, before.tokens]) void client.destroy().catch(() => {});
  }

  /** Sends what the stream answers. */
  #post(path: string, body: object): void {
    if (this.#life.kind !== "open") return;
    const { tokens, headers } = this.#life;
    const answered = async (): Promise<void> => {
      // An answer without an end would keep all that follow waiting.
      const signal = AbortSignal.timeout(answerMs);
      const sent = { method: "POST", path: `/${path}`, headers, body: JSON.stringify(body), signal } as const;
      const reply = await tokens.request(sent);
      // What was asked for will not come, or the stream has ended there. Another token that is lost is one of many.
      if (reply.statusCode >= 300 && (path === feedClustersPath || reply.statusCode === 404))
        this.#end(await refusalOf(reply.statusCode, reply.body));
      else await reply.body.dump();
    };
    void answered().catch((error: unknown) => this.#end(problemOf(error)));
  }

  #open(upstream: UpstreamConfig): FeedLife {
    try {
      const { url, tls } = upstream;
      const token = tokenFor(upstream);
      const connect = { timeout: requestMs, ...(tls === null ? {} : readTls(tls)) };
      const options = { pipelining: 1, connect, headersTimeout: requestMs, bodyTimeout: 0 };
      return {
        kind: "open",
        stream: new Client(url, options),
        tokens: new Client(url, options),
        headers: {
          "content-type": "application/json",
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        },
      };
    } catch (error) {
      setImmediate(() => this.#end(errorMessage(error)));
      return { kind: "failed" };
    }
  }

  async #run({ stream, headers }: Session, request: FeedRequest): Promise<void> {
    const { statusCode, body } = await stream.request({
      method: "POST",
      path: `/${feedPath}`,
      headers,
      body: JSON.stringify(request),
    });
    if (statusCode !== 200) return this.#end(await refusalOf(statusCode, body));
    body.on("data", (bytes: Buffer) => this.#sink.onBytes(bytes.length));
    const text = body.pipe(createGunzip()).setEncoding("utf8");
    // An error of the one does not reach the other.
    body.once("error", (error) => text.destroy(error));
    await this.#read(text);
    this.#end("the stream has ended");
  }

  async #read(text: Readable): Promise<void> {
    let rest = "";
    for await (const chunk of text) {
      const piece = String(chunk);
      rest += piece;
      if (rest.length > lineMax) throw new Error(`a message must have at most ${lineMax} characters`);
      if (!piece.includes("\n")) continue;
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        await this.#take(line);
        if (this.#isEnded()) return;
      }
    }
  }

  /** Takes a line in pieces, between which other work goes on. */
  async #take(line: string): Promise<void> {
    const isBeginning = this.#beginning > 0 && line.startsWith(fullStart);
    if (isBeginning) this.#beginning -= 1;
    for (const steps = this.#steps(line); ;) {
      const turn = this.#turns.wait(this.#work);
      if (turn !== null) await turn;
      if (this.#isEnded()) return;
      if (this.#turns.spend(this.#work, isBeginning, () => steps.next()).done === true) return;
      if (this.#turns.isTooMuch(this.#work)) return this.#end("it sends more than one upstream may");
    }
  }

  *#steps(line: string): Generator<undefined, void, void> {
    const message = readFeedMessage(yield* valueIn(line));
    if (message !== null) this.#unknown = 0;
    else if (++this.#unknown > unknownMax) this.#end("it sends what is no message");
    if (message === null) return;
    if (!("changes" in message) || message.changes.length <= changesAtOnce) return this.#sink.onMessage(message);
    for (let from = 0; from < message.changes.length; from += changesAtOnce) {
      const changes = message.changes.slice(from, from + changesAtOnce);
      this.#sink.onMessage({ ...message, changes }, from + changesAtOnce < message.changes.length);
      yield;
      if (this.#isEnded()) return;
    }
  }

  #isEnded(): boolean {
    return this.#life.kind === "ended";
  }

  #end(problem: string): void {
    if (this.#isEnded()) return;
    this.close();
    this.#sink.onEnd(problem);
  }
}

/** What a line says; `undefined` if it is damaged. @throws Error if it has too many values */
function* valueIn(line: string): Generator<undefined, unknown, void> {
  try {
    return yield* parseInPieces(line, valuesMax);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Reads the token of an upstream. @throws Error if it must not be sent there, or cannot be read */
function tokenFor({ url, tokenFile, stated }: UpstreamConfig): string | null {
  if (tokenFile === null) return null;
  const destination = stated === undefined ? { word: "configured" as const } : { word: "stated" as const, ...stated };
  const problem = secretProblem("instance_token", { address: url, ...destination });
  if (problem !== null) throw new Error(`Cannot send the token: the address must be ${problem}, got ${url}`);
  return firstLine(tokenFile).trim();
}

async function refusalOf(status: number, body: Readable): Promise<string> {
  const { message } = objectOf(parseJson(await textOf(body)));
  return typeof message === "string" ? withoutUnsafe(message.slice(0, refusalMax)) : `it answered ${status}`;
}

/** The text of a short answer. */
async function textOf(body: Readable): Promise<string> {
  let text = "";
  for await (const chunk of body) {
    text += String(chunk);
    if (text.length > refusalMax) break;
  }
  return text;
}

function problemOf(error: unknown): string {
  return (error instanceof Error ? socketProblem(error) : null) ?? errorMessage(error);
}
