import { basename } from "node:path";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ListenerAccess } from "../../core/config/model/listener-access-config.ts";
import type { Caller } from "../../core/http/message/caller.ts";
import { readBudgetedBody } from "../../core/http/message/budgeted-body.ts";
import { type JsonBody, readJsonBody } from "../../core/http/message/json-body.ts";
import { errorReply, jsonReply, methodNotAllowed, type Reply } from "../../core/http/message/reply.ts";
import type { FeatureCall } from "../../core/http/admin-api/admin-api.ts";
import { type FeedPath, feedPathOf } from "../../core/http/admin-api/feed-paths.ts";
import type { RunningFollow } from "./open-follow.ts";
import type { FeedOutlet } from "./owner/feed-stream.ts";
import type { FeedCaller } from "./owner/feeds.ts";

/** What a listener says of followers. */
type FollowerAccess = Pick<ListenerAccess, "followers" | "readOnly">;

/** The longest request for a feed, in bytes: for 10,000 clusters. */
const bodyMax = 8 * 1024 * 1024;

/**
 * Answers `POST /feed`, whose response is a stream of messages, `POST /feed/clusters`,
 * `POST /feed/echo` and `POST /feed/drain`.
 * @param running `null`: nobody can be fed
 * @returns `null` once the stream is open
 */
export async function answerFeed(
  running: Pick<RunningFollow, "feeds" | "bodies"> | null,
  { call: { request, message, response, caller }, access, only }: FeatureCall,
): Promise<Reply | null> {
  const path = feedPathOf(request);
  if (path === null)
    return errorReply(404, "not_found", { message: `Cannot find ${request.target}: a feed is at /feed` });
  if (request.method !== "POST") return methodNotAllowed(request.method, "POST");
  if (running === null) return notFed("unavailable", "it must be possible to open feeds");
  const { feeds, bodies } = running;
  const read = await readFeedBody(message, path, { bodies, who: caller.principal ?? caller.address });
  if (!read.ok) return read.reply;
  const following = followingCaller(caller, access, only);
  if (path === "feed/echo") return streamReply(feeds.echo(read.body, following), "return this token");
  if (path === "feed/clusters") return streamReply(feeds.select(read.body, following), "change the clusters");
  if (path === "feed/drain") return drainReply(await feeds.drain(read.body, following));
  const opened = feeds.open(read.body, following, () => begin(response));
  if (opened.kind !== "open") return notFed(opened.kind, opened.problem);
  if (response.destroyed) opened.ended();
  else response.once("close", opened.ended);
  return null;
}

function notFed(kind: "unreadable" | "refused" | "unavailable", problem: string): Reply {
  return errorReply(kind === "unreadable" ? 400 : 503, kind, { message: `Cannot feed outcomes: ${problem}` });
}

/** Reads the body of a call. Those that name clusters may be long, so few of them are received at the same time. */
async function readFeedBody(
  message: IncomingMessage,
  path: FeedPath,
  { bodies, who }: Pick<RunningFollow, "bodies"> & { readonly who: string },
): Promise<JsonBody> {
  if (path !== "feed" && path !== "feed/clusters") return readJsonBody(message);
  return readBudgetedBody(message, bodyMax, { budget: bodies, who });
}

function followingCaller(caller: Caller, access: FollowerAccess, only: string | null): FeedCaller {
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

function begin(response: ServerResponse): FeedOutlet {
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
  { principal, access }: { readonly principal: string | null; readonly access: FollowerAccess },
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
