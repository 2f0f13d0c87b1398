import type { DocumentAnswer, DocumentName } from "../../cluster/snapshot.ts";
import type { NodeClient, NodeReply } from "../client/client.ts";
import type { ProbeContext } from "../client/probe-context.ts";
import { readDocumentAfter } from "../parse/parse-response.ts";
import type { DocumentSource } from "./document-source.ts";

/** How a request for a document ended. */
export type DocumentResult =
  | { readonly kind: "answered" }
  /** `isUnreachable`: connections are refused, which says nothing of the DCS. `hangs`: no answer in time. */
  | { readonly kind: "failed"; readonly isUnreachable: boolean; readonly hangs: boolean }
  /** The prober was stopped meanwhile. */
  | { readonly kind: "stopped" };

/** Requests documents of nodes, one at a time of each node, and records what comes of it. */
export class DocumentRequests {
  readonly #context: ProbeContext;
  readonly #clients = new Map<string, NodeClient>();
  readonly #inFlight = new Set<string>();
  /** Each document as it was last answered. */
  readonly #last = new Map<DocumentName, DocumentAnswer>();
  #isStopped = false;

  constructor(context: ProbeContext) {
    this.#context = context;
  }

  /** Whether a document is being requested of the node. */
  isBusy({ api }: DocumentSource): boolean {
    return this.#inFlight.has(api);
  }

  /** @param sentAtMs when the request counts as sent, in ms of our clock: not later than it is */
  async get(name: DocumentName, of: DocumentSource, sentAtMs: number = this.#context.now()): Promise<DocumentResult> {
    if (this.#isStopped) return { kind: "stopped" };
    this.#inFlight.add(of.api);
    const reply = await this.#clientFor(of.api).get(`/${name}`);
    this.#inFlight.delete(of.api);
    return this.#isStopped ? { kind: "stopped" } : this.#take(reply, { name, of, sentAtMs });
  }

  /** Closes the connections to all but the given origins. */
  keepOnly(origins: ReadonlySet<string>): void {
    for (const [origin, client] of this.#clients) {
      if (origins.has(origin) || this.#inFlight.has(origin)) continue;
      client.close();
      this.#clients.delete(origin);
    }
  }

  /** Takes new TLS material: the next request connects anew. */
  reconnect(): void {
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }

  stop(): void {
    this.#isStopped = true;
    this.reconnect();
  }

  #take(reply: NodeReply, { name, of, sentAtMs }: RequestedDocument): DocumentResult {
    const { cluster, now, record, onProbeFinished } = this.#context;
    const answer = readDocumentAfter(reply, this.#last.get(name) ?? null, { name, of: of.name, sentAtMs });
    if (!("failure" in answer)) this.#last.set(name, answer);
    const outcome = "failure" in answer ? answer.failure.kind : "answered";
    onProbeFinished({ cluster, node: of.name, endpoint: name, outcome, durationMs: now() - sentAtMs });
    if (!("failure" in answer)) {
      record({ kind: "document", cluster, answer });
      return { kind: "answered" };
    }
    const { failure } = answer;
    // A request that never left this process says nothing of the node.
    if (name === "cluster" && failure.kind !== "not_sent")
      record({ kind: "view_failure", cluster, node: of.name, sentAtMs, failure });
    const isUnreachable = ["refused", "unreachable", "not_sent"].includes(failure.kind);
    return { kind: "failed", isUnreachable, hangs: failure.kind === "timeout" };
  }

  #clientFor(origin: string): NodeClient {
    const known = this.#clients.get(origin);
    if (known !== undefined) return known;
    const client = this.#context.connect(origin);
    this.#clients.set(origin, client);
    return client;
  }
}

interface RequestedDocument {
  readonly name: DocumentName;
  readonly of: DocumentSource;
  readonly sentAtMs: number;
}
