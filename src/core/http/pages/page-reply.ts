import type { IncomingMessage } from "node:http";
import type { HttpExchange } from "../message/incoming-call.ts";
import { errorReply, type Reply } from "../message/reply.ts";
import type { PageFile, PageFiles } from "./page-files.ts";

/** Nothing of another host, nothing inline; no other site may frame the page. */
const contentPolicy =
  "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; object-src 'none'";

/** The folder under which the files of the page are served. */
const filesPath = "page/";

/** Whether a path is of the live page: a file of it, or `/` for a client that prefers HTML. */
export function isLivePagePath(path: string, message: IncomingMessage): boolean {
  return path.startsWith(filesPath) || (path === "" && acceptsHtml(message));
}

/** A browser names text/html. Programs do not, or accept anything. */
function acceptsHtml({ headers }: IncomingMessage): boolean {
  return (headers.accept ?? "")
    .split(",")
    .some((range) => /^\s*text\/html\s*(;(?!\s*q=0(\.0*)?\s*$).*)?$/i.test(range));
}

/**
 * Serves a file of the live page. Browsers ask each time whether it changed, and get 304 if not: after an upgrade no
 * page mixes old and new files.
 * @param path decoded, without leading and trailing slashes
 * @returns `null` if the response is written
 */
export async function livePageReply(
  path: string,
  { message, response }: Pick<HttpExchange, "message" | "response">,
  files: PageFiles,
): Promise<Reply | null> {
  const name = path === "" ? "index.html" : path.slice(filesPath.length);
  const file = path === "" || name !== "index.html" ? await files.get(name) : undefined;
  if (file === undefined)
    return errorReply(404, "not_found", {
      message: `Cannot find /${path.slice(0, 200)}: the live page has no such file`,
    });
  const isGzipped = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(message.headers["accept-encoding"] ?? "");
  const headers = headersOf(file, isGzipped);
  if (isKnown(message.headers["if-none-match"], file.etag)) {
    response.sendDate = false;
    response.writeHead(304, headers);
    response.end();
    return null;
  }
  return { status: 200, phrase: "OK", headers, body: isGzipped ? file.gzipped : file.plain };
}

function headersOf({ type, etag }: PageFile, isGzipped: boolean): string[] {
  const isDocument = type.startsWith("text/html");
  return [
    "Content-Type",
    type,
    "Cache-Control",
    "no-cache",
    "ETag",
    etag,
    // At `/` programs get JSON.
    "Vary",
    isDocument ? "Accept, Accept-Encoding" : "Accept-Encoding",
    "X-Content-Type-Options",
    "nosniff",
    "Referrer-Policy",
    "same-origin",
    "Content-Security-Policy",
    contentPolicy,
    ...(isGzipped ? ["Content-Encoding", "gzip"] : []),
  ];
}

/** Weak comparison (RFC 9110, 13.1.2): a proxy that compresses weakens the tag. */
function isKnown(header: string | undefined, etag: string): boolean {
  return (header ?? "").split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
