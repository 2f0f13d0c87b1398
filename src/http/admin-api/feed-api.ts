import { basename } from "node:path";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import type { Caller } from "../message/caller.ts";
import { readBudgetedBody } from "../message/budgeted-body.ts";
import { type JsonBody, readJsonBody } from "../message/json-body.ts";
import { errorReply, jsonReply, methodNotAllowed, type Reply } from "../message/reply.ts";
import type { Request } from "../message/request.ts";
import { parseRequestTarget } from "../message/request-target.ts";

/** Where the messages of one follower go. */
interface FeedResponse {
  write(bytes: Buffer): void;
  /** How many bytes wait for the follower. */
  readonly waiting: number;
  end(): void;
}

/** Why there is no feed: the request is none, or it is refused. */
export interface RefusedFeed {
  readonly kind: "unreadable" | "refused";
  readonly problem: string;
}

/** Who calls, and what the credential of this call permits. */
interface FollowingCaller {
  readonly name: string;
  readonly principal: string | null;
  readonly mayFollow: (cluster: string) => boolean;
  readonly mayDrain: (cluster: string) => boolean;
}

/** What feeds are opened by. */
export interface FeedApiContext {
  readonly access: Pick<ListenerAccess, "followers" | "readOnly">;
  readonly feeds: {
    /** @returns what is to be called when the follower has left */
    open(
      body: unknown,
      caller: FollowingCaller,
      respond: () => FeedResponse,
    ): Promise<{ readonly kind: "open"; readonly ended: () => void } | RefusedFeed>;
    /** Each of them: @returns `false` if the caller has no such stream */
    echo(body: unknown, caller: FollowingCaller): boolean;
    select(body: unknown, caller: FollowingCaller): boolean;
    /** Drains a node as an operator of a follower asks. @returns what came of it, or why nothing did */
    drain(body: unknown, caller: FollowingCaller): Promise<object | { readonly problem: string }>;
    /** Reserves the bytes of a body that is to be read. @returns gives them back; `null`: too many are being received */
    reserve(bytes: number, who: string): (() => void) | null;
  };
}

/** The longest request for a feed, in bytes: for 10,000 clusters. */
const bodyMax = 8 * 1024 * 1024;

const feedPaths = ["feed", "feed/clusters", "feed/echo", "feed/drain"] as const;
type FeedPath = (typeof feedPaths)[number];

/** Which path of a feed a request is for. Authorization and routing both use this function. */
export function feedPathOf({ target }: Pick<Request, "target">): FeedPath | null {
  const parsed = parseRequestTarget(target);
  if ("problem" in parsed || parsed.cluster !== null || parsed.node !== null) return null;
  return feedPaths.find((path) => path === parsed.path) ?? null;
}

/**
 * Answers `POST /feed`, whose response is a stream of messages, `POST /feed/clusters`,
 * `POST /feed/echo` and `POST /feed/drain`.
 * @param only the one cluster that the listener answers for; `null`: all
 * @returns `null` once the stream is open
 */
export async function answerFeed(
  { request, message, response, caller }: IncomingCall,
  path: FeedPath,
  { feeds, access, only }: FeedApiContext & { readonly only: string | null },
): Promise<Reply | null> {
  if (request.method !== "POST") return methodNotAllowed(request.method, "POST");
  const read = await readFeedBody(message, path, { feeds, who: caller.principal ?? caller.address });
  if (!read.ok) return read.reply;
  const following = followingCaller(caller, access, only);
  if (path === "feed/echo") return streamReply(feeds.echo(read.body, following), "return this token");
  if (path === "feed/clusters") return streamReply(feeds.select(read.body, following), "change the clusters");
  if (path === "feed/drain") return drainReply(await feeds.drain(read.body, following));
  const opened = await feeds.open(read.body, following, () => begin(response));
  if (opened.kind !== "open")
    return errorReply(opened.kind === "unreadable" ? 400 : 503, opened.kind, {
      message: `Cannot feed outcomes: ${opened.problem}`,
    });
  if (response.destroyed) opened.ended();
  else response.once("close", opened.ended);
  return null;
}

/** Reads the body of a call. Those that name clusters may be long, so few of them are received at the same time. */
async function readFeedBody(
  message: IncomingMessage,
  path: FeedPath,
  { feeds, who }: { readonly feeds: Pick<FeedApiContext["feeds"], "reserve">; readonly who: string },
): Promise<JsonBody> {
  if (path !== "feed" && path !== "feed/clusters") return readJsonBody(message);
  return readBudgetedBody(message, bodyMax, { budget: feeds, who });
}

function followingCaller(caller: Caller, access: FeedApiContext["access"], only: string | null): FollowingCaller {
  const who = { principal: caller.principal, access };
  const name = caller.principal === null ? caller.address : `${caller.principal} at ${caller.address}`;
  const mayFollow = (cluster: string): boolean =>
    (only === null || only === cluster) && followerOf(cluster, who) !== null;
  const mayDrain = (cluster: string): boolean => !access.readOnly && followerOf(cluster, who)?.drains === true;
  return { name, principal: caller.principal, mayFollow, mayDrain };
}

function streamReply(isDone: boolean, what: string): Reply {
  return isDone
    ? { status: 204, phrase: "No Content", headers: [], body: Buffer.alloc(0) }
    : errorReply(404, "no_stream", { message: `Cannot ${what}: the stream must be open` });
}

function drainReply(came: object): Reply {
  if (!("problem" in came)) return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify(came));
  return errorReply(403, "refused", { message: `Cannot drain for a follower: ${String(came.problem)}` });
}

function begin(response: ServerResponse): FeedResponse {
  response.sendDate = false;
  response.writeHead(200, {
    "Content-Type": "application/x-ndjson",
    "Content-Encoding": "gzip",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
  });
  return {
    write: (bytes) => {
      if (!response.destroyed) response.write(bytes);
    },
    get waiting() {
      return response.writableLength;
    },
    end: () => {
      response.end();
      if (response.writableNeedDrain) response.destroy();
    },
  };
}

/**
 * What a follower of a cluster may do; `null`: it may not follow it. Tokens are named by their file and line,
 * certificates by their common name. Where no followers are configured, who may call may do all.
 */
function followerOf(
  cluster: string,
  { principal, access }: { readonly principal: string | null; readonly access: FeedApiContext["access"] },
): { readonly drains: boolean } | null {
  const { followers } = access;
  if (followers.length === 0) return { drains: true };
  const found = followers.filter(
    ({ tokenFile, certificate, clusters }) =>
      (clusters === null || clusters.includes(cluster)) &&
      (tokenFile === null
        ? principal === `certificate ${certificate}`
        : principal?.startsWith(`${basename(tokenFile)}:`) === true),
  );
  return found.length === 0 ? null : { drains: found.some(({ drains }) => drains) };
}
