import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import { open } from "./listening.ts";

/** What was asked of a fake node, with its body. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface OddNodeOptions {
  readonly name: string;
  readonly holdsLock: boolean;
  /** Answers what is no health check; by default 200 with a line of text. */
  readonly behave?: (received: Received, response: ServerResponse, request: IncomingMessage) => void;
  /** Answers everything, in place of a node. */
  readonly instead?: RequestListener;
  /** Serves with TLS. */
  readonly tls?: ServerOptions;
}

/** A real server on a free port that answers health checks like a node of cluster `demo`, and management calls as it is told. */
export interface OddNode {
  readonly name: string;
  readonly api: string;
  readonly port: number;
  /** Everything that was no health check. */
  readonly received: readonly Received[];
  readonly server: Server;
  close(): Promise<void>;
}

const probed = /^\/(leader|liveness|cluster|config|history|failsafe)$/;

export async function serveOddNode({ name, holdsLock, behave, instead, tls }: OddNodeOptions): Promise<OddNode> {
  const received: Received[] = [];
  const listener: RequestListener = (request, response) => {
    if (instead !== undefined) instead(request, response);
    else if (request.method === "GET" && probed.test(request.url ?? ""))
      answerProbe(name, holdsLock, request, response);
    else {
      const take = async (): Promise<void> => {
        const whole = await readWhole(request);
        received.push(whole);
        if (behave === undefined) response.end("done");
        else behave(whole, response, request);
      };
      // A client that goes away in the middle has nobody to answer.
      take().catch(() => response.destroy());
    }
  };
  const server: Server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  const { port, close } = await open(server);
  return { name, api: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`, port, received, server, close };
}

/** A status document of cluster `demo`. */
export function statusDocument(name: string, holdsLock: boolean): Readonly<Record<string, unknown>> {
  return {
    state: "running",
    role: holdsLock ? "primary" : "replica",
    timeline: 1,
    xlog: holdsLock
      ? { location: 1000 }
      : { received_location: 1000, replayed_location: 1000, replayed_timestamp: null, paused: false },
    ...(holdsLock ? {} : { replication_state: "streaming" }),
    database_system_identifier: "7",
    patroni: { version: "4.1.4", scope: "demo", name },
  };
}

function answerProbe(name: string, holdsLock: boolean, request: IncomingMessage, response: ServerResponse): void {
  if (request.url === "/leader")
    response.writeHead(holdsLock ? 200 : 503).end(JSON.stringify(statusDocument(name, holdsLock)));
  else if (request.url === "/liveness") response.writeHead(200).end();
  else if (request.url === "/config") response.end(JSON.stringify({ ttl: 30, loop_wait: 10, retry_timeout: 10 }));
  else if (request.url === "/history") response.end("[]");
  else if (request.url === "/failsafe") response.writeHead(502).end();
  else {
    const member = {
      name,
      role: holdsLock ? "leader" : "replica",
      state: "running",
      api_url: `http://${request.headers.host ?? ""}/patroni`,
    };
    response.end(JSON.stringify({ scope: "demo", members: [member] }));
  }
}

async function readWhole(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: request.headers,
    body: Buffer.concat(chunks).toString(),
  };
}
