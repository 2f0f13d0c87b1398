import { documentMax } from "../../cluster/documents/document-sizes.ts";
import type { ByteBudget } from "./byte-budget.ts";
import { KeptBody, type BodySink, type NodeConnection, type NodeReply, type StreamedReply } from "./client.ts";

/** Opens a client of an API base address, which has one connection. It sends nothing yet. */
export type OpenClient = (origin: string) => NodeConnection;

/**
 * Shares clients between all that ask the same address. A request takes a client that is free, or a new one: a slow
 * answer to one request never delays another (rule 8). Requests that do not overlap use the same connection: clients and
 * their sockets were half of the memory that rolecall used for a node.
 */
export class SharedClients {
  readonly #open: OpenClient;
  readonly #budget: ByteBudget | null;
  readonly #addresses = new Map<string, SharedAddress>();

  /** @param budget what the bodies are charged to, as that of the clients */
  constructor(open: OpenClient, budget: ByteBudget | null) {
    this.#open = open;
    this.#budget = budget;
  }

  /**
   * Connects a user to an address. One client may stay open between requests until all users have closed their
   * connections.
   * @param origin the base address of the API
   */
  connect(origin: string): NodeConnection {
    const address = this.#addresses.get(origin) ?? new SharedAddress(() => this.#open(origin));
    this.#addresses.set(origin, address);
    address.users += 1;
    return new SharedConnection(address, new KeptBody(this.#budget), () => {
      address.users -= 1;
      if (address.users === 0) this.#addresses.delete(origin);
    });
  }
}

/** The clients of one address: one that is free at most, and those whose request is in flight. */
class SharedAddress {
  /** How many users are connected: without any, no client stays open. */
  users = 0;
  readonly #open: () => NodeConnection;
  #free: NodeConnection | null = null;
  /** The clients with a request in flight that may be used again after it. */
  readonly #staying = new Set<NodeConnection>();

  constructor(open: () => NodeConnection) {
    this.#open = open;
  }

  take(): NodeConnection {
    const client = this.#free ?? this.#open();
    this.#free = null;
    this.#staying.add(client);
    return client;
  }

  giveBack(client: NodeConnection): void {
    if (this.#staying.delete(client) && this.#free === null && this.users > 0) this.#free = client;
    else client.close();
  }

  /** Makes sure that no later request uses a connection that is open now. */
  renew(): void {
    this.#staying.clear();
    this.#free?.close();
    this.#free = null;
  }
}

/** What one user of an address has of it. */
class SharedConnection implements NodeConnection {
  readonly #address: SharedAddress;
  readonly #kept: KeptBody;
  readonly #onClose: () => void;
  /** The clients with a request of this user in flight. */
  readonly #busy = new Set<NodeConnection>();
  #isClosed = false;

  constructor(address: SharedAddress, kept: KeptBody, onClose: () => void) {
    this.#address = address;
    this.#kept = kept;
    this.#onClose = onClose;
  }

  get(path: string, bodyMax: number = documentMax.report): Promise<NodeReply> {
    return this.#ask((client) => client.get(path, bodyMax, this.#kept));
  }

  getStreamed(path: string, sink: BodySink): Promise<StreamedReply> {
    return this.#ask((client) => client.getStreamed(path, sink));
  }

  /**
   * Ends the requests of this user that are in flight, and closes the free client. Requests of other users in flight go on,
   * and their clients close afterwards: later requests open new connections.
   */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
    this.#address.renew();
    this.#kept.release();
    for (const client of this.#busy) client.close();
  }

  #ask<Reply extends NodeReply | StreamedReply>(
    send: (client: NodeConnection) => Promise<Reply>,
  ): Promise<Reply | { readonly failure: { readonly kind: "unreachable"; readonly detail: string } }> {
    if (this.#isClosed)
      return Promise.resolve({ failure: { kind: "unreachable", detail: "the connection was closed" } });
    const client = this.#address.take();
    this.#busy.add(client);
    return send(client).then((reply) => {
      this.#busy.delete(client);
      this.#address.giveBack(client);
      return reply;
    });
  }
}
