import type { NodeConnection, NodeReply, StreamedReply } from "./client.ts";

/** The nodes that an address of `discover` stands for. */
export type FoundNodes =
  /** The APIs of the nodes, at least one, the likeliest to answer first. */
  | { readonly kind: "found"; readonly origins: readonly [string, ...string[]] }
  /** Why there is none. */
  | { readonly kind: "none"; readonly why: string };

/** Finds nodes by an address of `discover` that names them by other means than a host and a port. */
export interface NodeFinder {
  /** The protocol of the addresses, with its colon. */
  readonly protocol: string;
  /** Finds the nodes as they are now. Never rejects, but may take long: until something is known. */
  readonly find: (address: string) => Promise<FoundNodes>;
}

/** What finds nodes outside a serving process. */
export interface LocalNodeFinder extends NodeFinder {
  readonly close: () => void;
}

/** Which node is asked for an address. It outlives connections, which are opened anew for each probe. */
export interface SeedTurn {
  /** The one that has answered last, or is asked just now. */
  origin: string | null;
  /** Those that have not answered since another one did. */
  readonly silent: Set<string>;
}

/** What requests to found nodes depend on. */
export interface FoundConnectionContext {
  /** What finds nodes now. */
  readonly finders: () => readonly NodeFinder[];
  /** Connects to an API. */
  readonly connect: (origin: string) => NodeConnection;
  readonly asked: SeedTurn;
  /** How long a request waits until nodes are known, in ms. */
  readonly timeoutMs: number;
}

/** Whether an address names a node by host and port. */
export function isPlainAddress(address: string): boolean {
  return /^https?:/.test(address);
}

/**
 * Sends the requests for an address of `discover` to one of the nodes that it stands for: the same one while that
 * answers, and the next one after it has not.
 */
export class FoundConnection implements NodeConnection {
  readonly #address: string;
  readonly #context: FoundConnectionContext;
  #at: { readonly origin: string; readonly connection: NodeConnection } | null = null;
  #isClosed = false;

  constructor(address: string, context: FoundConnectionContext) {
    this.#address = address;
    this.#context = context;
  }

  get(...request: Parameters<NodeConnection["get"]>): Promise<NodeReply> {
    return this.#ask((connection) => connection.get(...request));
  }

  getStreamed(...request: Parameters<NodeConnection["getStreamed"]>): Promise<StreamedReply> {
    return this.#ask((connection) => connection.getStreamed(...request));
  }

  close(): void {
    this.#isClosed = true;
    this.#at?.connection.close();
    this.#at = null;
  }

  async #ask<Reply extends NodeReply | StreamedReply>(
    send: (connection: NodeConnection) => Promise<Reply>,
  ): Promise<Reply | { readonly failure: { readonly kind: "unreachable"; readonly detail: string } }> {
    const found = await this.#find();
    if (found.kind === "none" || this.#isClosed) {
      const detail = found.kind === "none" ? found.why : "the connection was closed";
      return { failure: { kind: "unreachable", detail } };
    }
    const { origin, connection } = this.#connectionTo(found.origins);
    const reply = await send(connection);
    const { silent } = this.#context.asked;
    if ("failure" in reply) silent.add(origin);
    else silent.clear();
    return reply;
  }

  async #find(): Promise<FoundNodes> {
    const { finders, timeoutMs } = this.#context;
    const protocol = this.#address.slice(0, this.#address.indexOf(":") + 1);
    const finder = finders().find((one) => one.protocol === protocol);
    if (finder === undefined) return { kind: "none", why: `nothing finds nodes by ${protocol} here yet` };
    let timer: NodeJS.Timeout | null = null;
    const late = new Promise<FoundNodes>((resolve) => {
      const why = `which nodes there are is not known after ${timeoutMs} ms`;
      timer = setTimeout(() => resolve({ kind: "none", why }), timeoutMs);
    });
    try {
      return await Promise.race([finder.find(this.#address), late]);
    } finally {
      if (timer !== null) clearTimeout(timer);
    }
  }

  #connectionTo(origins: readonly [string, ...string[]]): {
    readonly origin: string;
    readonly connection: NodeConnection;
  } {
    const { asked, connect } = this.#context;
    if (origins.every((origin) => asked.silent.has(origin))) {
      asked.silent.clear();
      asked.origin = null;
    }
    const candidates = origins.filter((origin) => !asked.silent.has(origin));
    const origin = candidates.find((one) => one === asked.origin) ?? candidates[0] ?? origins[0];
    asked.origin = origin;
    const known = this.#at;
    if (known?.origin === origin) return known;
    known?.connection.close();
    return (this.#at = { origin, connection: connect(origin) });
  }
}
