import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { PageFiles } from "../../../core/http/pages/page-files.ts";
import { livePageReply } from "../../../core/http/pages/page-reply.ts";
import { errorReply, methodNotAllowed, type Reply } from "../../../core/http/message/reply.ts";
import { safeMethods, safeMethodsAllowHeader } from "../../../core/http/message/request.ts";
import { readPageFile } from "../../../core/program/program-files.ts";

/** How many connections are open at most. One browser uses six. */
const connectionsMax = 32;
/** How long a request may take to arrive, and how long an idle connection stays open, in ms. */
const requestMs = 10_000;
const idleMs = 5_000;

/** A server of one incident file. */
export interface IncidentServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the live page and one incident file on loopback. The path contains a secret: other users of this machine, and
 * other pages in the browser, cannot read the file.
 * @param port 0 takes a free one
 */
export async function startIncidentServer(incident: Buffer, port: number): Promise<IncidentServer> {
  const folder = `/${randomBytes(16).toString("base64url")}/`;
  const files = new PageFiles(readPageFile);
  const server = createServer({ requestTimeout: requestMs, keepAliveTimeout: idleMs }, (message, response) => {
    answer({ message, response, folder, incident, files }).catch(() => response.destroy());
  });
  server.maxConnections = connectionsMax;
  const origin = await listenOnLoopback(server, port);
  return {
    url: `${origin}${folder}?incident`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A request, and what it is answered from. */
interface IncidentRequest {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** The path of everything that is served, with the secret. */
  readonly folder: string;
  readonly incident: Buffer;
  readonly files: PageFiles;
}

async function answer(request: IncidentRequest): Promise<void> {
  const { message, response } = request;
  const reply = await replyTo(request);
  if (reply === null) return;
  response.writeHead(reply.status, reply.phrase, [...reply.headers, "Content-Length", String(reply.body.length)]);
  response.end(message.method === "HEAD" ? undefined : reply.body);
}

async function replyTo({ message, response, folder, incident, files }: IncidentRequest): Promise<Reply | null> {
  const { method = "", url = "" } = message;
  if (!safeMethods.includes(method)) return methodNotAllowed(method, safeMethodsAllowHeader);
  const [target = ""] = url.split("?", 1);
  if (!target.startsWith(folder))
    return errorReply(404, "not_found", { message: "Cannot find this path: use the URL that the command printed" });
  const path = target.slice(folder.length);
  if (path !== "incident-file") return livePageReply(path, { message, response }, files);
  const headers = [
    "Content-Type",
    "application/yaml",
    "Cache-Control",
    "no-store",
    "X-Content-Type-Options",
    "nosniff",
  ];
  return { status: 200, phrase: "OK", headers, body: incident };
}

function listenOnLoopback(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : port}`);
    });
  });
}
