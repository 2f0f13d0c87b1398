import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { Socket } from "node:net";
import { listenUntilClosed } from "./listen.ts";

/** How a fake etcd behaves beside the truth. */
export interface EtcdFaults {
  /** Accepts connections and never answers. */
  isHung: boolean;
  /** Announces nothing, while reads see every change. */
  losesEvents: boolean;
  /** Answers every read with this text. */
  garbage: string | null;
  /** A token is required; another one than this is refused. */
  token: string | null;
  /** Cancels a new watch, because its revision is compacted. */
  isCompacted: boolean;
  /** Splits each message of a watch into two pieces. */
  splits: boolean;
}

interface Watcher {
  readonly response: ServerResponse;
  readonly startRevision: number;
}

/** etcd's JSON gateway, as far as a watch of one scope needs it, with faults that a test turns on. */
export class FakeEtcd {
  readonly faults: EtcdFaults = {
    isHung: false,
    losesEvents: false,
    garbage: null,
    token: null,
    isCompacted: false,
    splits: false,
  };
  /** The paths that were called. */
  readonly calls: string[] = [];
  clusterId = "1000";
  revision = 1;
  url = "";
  readonly #keys = new Map<string, string>();
  readonly #watchers = new Set<Watcher>();
  #tokens = 0;
  #close: () => Promise<void> = async () => {};

  /** @param tls the options of a server that speaks TLS */
  static async start(tls: ServerOptions | null = null): Promise<FakeEtcd> {
    const etcd = new FakeEtcd();
    const handle = (request: IncomingMessage, response: ServerResponse): void => etcd.#take(request, response);
    const server = tls === null ? createServer(handle) : createTlsServer(tls, handle);
    const { port, close } = await listenUntilClosed(server);
    etcd.url = `${tls === null ? "http" : "https"}://127.0.0.1:${port}`;
    etcd.#close = close;
    return etcd;
  }

  get watchCount(): number {
    return this.#watchers.size;
  }

  put(key: string, value: string): void {
    this.#keys.set(key, value);
    this.#announce({ kv: { key: encode(key), value: encode(value) } });
  }

  delete(key: string): void {
    this.#keys.delete(key);
    this.#announce({ type: "DELETE", kv: { key: encode(key) } });
  }

  /** Sends a text to every watch, as it is. */
  say(text: string): void {
    for (const { response } of this.#watchers) response.write(text);
  }

  /** Cuts every watch. */
  cut(): void {
    for (const { response } of this.#watchers) (response.socket as Socket).destroy();
  }

  close(): Promise<void> {
    return this.#close();
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      this.calls.push(path);
      if (this.faults.isHung) return;
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Body;
      if (path === "/v3/auth/authenticate") return this.#authenticate(body, response);
      if (this.faults.token !== null && request.headers.authorization !== this.faults.token)
        return reply(response, 401, { error: "etcdserver: invalid auth token", code: 16 });
      if (path === "/v3/kv/range") this.#range(body, response);
      else if (path === "/v3/watch") this.#watch(body, response);
      else reply(response, 404, { message: "Not Found" });
    });
  }

  #authenticate({ password }: Body, response: ServerResponse): void {
    if (password !== "secret")
      return reply(response, 400, { error: "authentication failed, invalid user ID", code: 3 });
    this.#tokens += 1;
    this.faults.token = `token.${this.#tokens}`;
    reply(response, 200, { token: this.faults.token });
  }

  #range({ key = "", range_end: end }: Body, response: ServerResponse): void {
    if (this.faults.garbage !== null) {
      response.end(this.faults.garbage);
      return;
    }
    const [from, to] = [decode(key), end === undefined ? null : decode(end)];
    const found = [...this.#keys].filter(([name]) => (to === null ? name === from : name >= from && name < to));
    const kvs = found.map(([name, value]) => ({ key: encode(name), value: encode(value) }));
    reply(response, 200, { header: this.#header, ...(kvs.length === 0 ? {} : { kvs, count: String(kvs.length) }) });
  }

  #watch({ create_request: { start_revision: start } = {} }: Body, response: ServerResponse): void {
    response.writeHead(200, { "Content-Type": "application/json" });
    this.#send(response, { header: this.#header, created: true });
    if (this.faults.isCompacted) {
      this.faults.isCompacted = false;
      const reason = "etcdserver: mvcc: required revision has been compacted";
      this.#send(response, { header: this.#header, canceled: true, compact_revision: "9", cancel_reason: reason });
      response.end();
      return;
    }
    const watcher = { response, startRevision: Number(start) };
    this.#watchers.add(watcher);
    response.on("close", () => this.#watchers.delete(watcher));
  }

  #announce(event: object): void {
    this.revision += 1;
    if (this.faults.losesEvents) return;
    for (const { response, startRevision } of this.#watchers)
      if (startRevision <= this.revision) this.#send(response, { header: this.#header, events: [event] });
  }

  #send(response: ServerResponse, result: object): void {
    const line = `${JSON.stringify({ result })}\n`;
    if (!this.faults.splits) {
      response.write(line);
      return;
    }
    response.write(line.slice(0, 20));
    setImmediate(() => response.write(line.slice(20)));
  }

  get #header(): object {
    return { cluster_id: this.clusterId, member_id: "1", revision: String(this.revision), raft_term: "2" };
  }
}

interface Body {
  readonly key?: string;
  readonly range_end?: string;
  readonly password?: string;
  readonly create_request?: { readonly start_revision?: string };
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(body));
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}

function decode(text: string): string {
  return Buffer.from(text, "base64").toString();
}
