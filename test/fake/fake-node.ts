import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { Ending } from "./ending.ts";
import { portOf } from "./listen.ts";
import { answerProbe, type StatusFields } from "./node-documents.ts";

/** A request that was not a probe, with its body. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface FakeNodeOptions {
  readonly name: string;
  readonly holdsLock: boolean;
  /** Answers everything that is not a probe; 502 if left out. */
  readonly respond?: (received: ReceivedRequest, response: ServerResponse, request: IncomingMessage) => void;
  /** Answers every request, probes included. */
  readonly handler?: RequestListener;
  /** Serves over TLS. */
  readonly tls?: ServerOptions;
}

/** A real server that answers probes as a node of cluster `demo`. Tests change its answers while it runs. */
export class FakeNode {
  readonly name: string;
  /** The target of every request, in order. */
  readonly requests: string[] = [];
  /** Every request that was not a probe. */
  readonly received: ReceivedRequest[] = [];
  /** The API of each member in the cluster document, by name. */
  members: ReadonlyMap<string, string> = new Map();
  /** The port of each member's database in the cluster document, by name. */
  databases: ReadonlyMap<string, number> = new Map();
  leader: string;
  /** The name of its cluster. */
  scope = "demo";
  /** Fields of the status document that differ from a healthy node's. */
  fields: StatusFields = {};
  server: Server;
  /** Base address of its API, once it is open. */
  api = "";
  /** The port it listens on, also after a `close` and the next `open`; 0 before the first. */
  port = 0;
  readonly #options: FakeNodeOptions;

  constructor(options: FakeNodeOptions) {
    this.#options = options;
    this.name = options.name;
    this.leader = options.holdsLock ? options.name : "";
    this.server = this.#createServer();
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => void this.server.listen(this.port, "127.0.0.1", resolve));
    this.port = portOf(this.server);
    this.api = `${this.#options.tls === undefined ? "http" : "https"}://127.0.0.1:${this.port}`;
  }

  /**
   * Stops listening and cuts its connections, as the end of the process would. `open` starts it again on the same port.
   */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
    this.server = this.#createServer();
  }

  #createServer(): Server {
    const { handler, tls } = this.#options;
    const listener: RequestListener = (request, response) => {
      this.requests.push(request.url ?? "");
      if (handler === undefined) this.#answer(request, response);
      else handler(request, response);
    };
    return tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { respond } = this.#options;
    const answer = request.method === "GET" ? answerProbe(this, request.url ?? "") : undefined;
    if (answer === undefined && respond !== undefined) {
      this.#receive(request, (received) => respond(received, response, request)).catch(() => response.destroy());
      return;
    }
    const { status, document } = answer ?? { status: 502 };
    response.shouldKeepAlive = false;
    response.writeHead(status).end(document === undefined ? "" : JSON.stringify(document));
  }

  /** Reads the whole body first. Rejects if the client closes the connection before its end. */
  async #receive(request: IncomingMessage, onReceived: (received: ReceivedRequest) => void): Promise<void> {
    const received = await readWhole(request);
    this.received.push(received);
    onReceived(received);
  }
}

/**
 * Starts one node that lists itself as the only member. Without `respond` it answers everything but
 * probes with `200 done`.
 */
export async function openFakeNode(options: FakeNodeOptions): Promise<FakeNode> {
  const node = new FakeNode({ respond: (_, response) => void response.end("done"), ...options });
  await node.open();
  node.members = new Map([[node.name, node.api]]);
  return node;
}

/** Starts a cluster of nodes that know each other, until the test ends. The first one leads. */
export async function openFakeCluster(context: Ending, names: readonly string[]): Promise<readonly FakeNode[]> {
  const nodes = names.map((name) => new FakeNode({ name, holdsLock: name === names[0] }));
  for (const node of nodes) await node.open();
  const members = new Map(nodes.map(({ name, api }) => [name, api]));
  for (const node of nodes) {
    node.members = members;
    node.leader = names[0] ?? "";
  }
  context.after(async () => {
    for (const node of nodes) await node.close();
  });
  return nodes;
}

async function readWhole(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: request.headers,
    body: Buffer.concat(chunks).toString(),
  };
}
