import type { IncomingMessage } from "node:http";
import { clusterNamed } from "../../cluster/lookup.ts";
import { drainMsMax, drainTextMax, type DrainRequest } from "../../cluster/drain.ts";
import { parseDuration } from "../../cluster/values/duration.ts";
import { nameOf, type JsonObject } from "../../cluster/values/json.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";
import { drainOverview } from "../../health/explain/overview.ts";
import { readJsonBody } from "../message/json-body.ts";
import { badRequest, errorReply, jsonReply, type Reply } from "../message/reply.ts";

/** What the drain calls work on. The app hands it in. */
export interface DrainsApiContext {
  snapshot(): Snapshot;
  /** Our clock, in ms. */
  now(): number;
  begin(cluster: string, node: string, wish: DrainRequest): void;
  /** @returns whether there was one */
  end(cluster: string, node: string, by: string | null): boolean;
}

/**
 * Answers `GET /drains`, `POST /drains/{cluster}/{node}` with `{"for": "30min", "reason": "…", "all": false, "by": "…"}`,
 * and `DELETE` of the same path with an optional `{"by": "…"}`. Only admin listeners have these.
 * @param path without the slashes around it
 */
export function answerDrainRequest(
  path: string,
  message: IncomingMessage,
  sources: DrainsApiContext,
): Reply | Promise<Reply> {
  const [, cluster, node, ...rest] = path.split("/");
  const { method = "GET" } = message;
  if (cluster === undefined) return ["GET", "HEAD"].includes(method) ? list(sources) : notAllowed(method, "GET, HEAD");
  if (node === undefined || rest.length > 0)
    return errorReply(404, "not_found", {
      message: "Cannot find this: drains are at /drains and /drains/{cluster}/{node}",
    });
  if (method !== "POST" && method !== "DELETE") return notAllowed(method, "POST, DELETE");
  return change({ cluster, node }, message, sources);
}

interface Place {
  readonly cluster: string;
  readonly node: string;
}

function list(sources: DrainsApiContext): Reply {
  const drains = sources.snapshot().clusters.flatMap((cluster) =>
    [...cluster.drains.keys()].flatMap((node) => {
      const drain = drainOverview(cluster, node, sources.now());
      return drain === null ? [] : [{ cluster: cluster.name, node, ...drain }];
    }),
  );
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ drains }));
}

async function change({ cluster, node }: Place, message: IncomingMessage, sources: DrainsApiContext): Promise<Reply> {
  const read = await readJsonBody(message);
  if (!read.ok) return read.reply;
  const { body } = read;
  const snapshot = sources.snapshot();
  const state = clusterNamed(snapshot, cluster);
  if (state === undefined) return unknown("cluster", cluster, [...snapshot.index.keys()]);
  if (message.method === "DELETE") {
    const isEnded = sources.end(cluster, node, nameOf(body["by"], drainTextMax));
    if (!isEnded)
      return errorReply(404, "not_drained", { message: `Cannot end the drain of ${node} in ${cluster}: it has none` });
    return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ cluster, node, drain: null }));
  }
  if (!state.index.has(node) && (state.isMembershipKnown || state.drains.size > 100))
    return unknown("node", node, [...state.index.keys()]);
  const wish = readWish(body);
  if ("reply" in wish) return wish.reply;
  sources.begin(cluster, node, wish);
  return jsonReply(
    { code: 200, phrase: "OK" },
    JSON.stringify({ cluster, node, drain: drainOf(sources, { cluster, node }) }),
  );
}

function drainOf(sources: DrainsApiContext, { cluster, node }: Place): object | null {
  const state = clusterNamed(sources.snapshot(), cluster);
  return state === undefined ? null : drainOverview(state, node, sources.now());
}

function readWish(body: JsonObject): DrainRequest | { readonly reply: Reply } {
  const span = body["for"];
  const forMs = typeof span === "string" ? parseDuration(span) : undefined;
  if (forMs === undefined || forMs < 1 || forMs > drainMsMax) {
    return {
      reply: badRequest({ subject: "for", value: shown(span), allowed: "a time up to 30d, such as 30min, 2h" }),
    };
  }
  const reason = nameOf(body["reason"], drainTextMax);
  if (reason === null || reason.trim() === "") {
    return {
      reply: badRequest({
        subject: "reason",
        value: shown(body["reason"]),
        allowed: `a text on one line of at most ${drainTextMax} characters`,
      }),
    };
  }
  const { all = false } = body;
  if (typeof all !== "boolean")
    return { reply: badRequest({ subject: "all", value: shown(all), allowed: "true or false" }) };
  return { forMs, reason, isAll: all, by: nameOf(body["by"], drainTextMax) };
}

function shown(value: unknown): string {
  return value === undefined ? "not there" : JSON.stringify(value);
}

function unknown(what: string, value: string, known: readonly string[]): Reply {
  return errorReply(404, `unknown_${what}`, {
    message: `Cannot find ${what} ${JSON.stringify(value)} as it must be one of ${known.join(", ")}`,
  });
}

function notAllowed(method: string, allow: string): Reply {
  return errorReply(405, "method_not_allowed", {
    message: `Cannot ${method} this path: allowed is ${allow}`,
    headers: ["Allow", allow],
  });
}
