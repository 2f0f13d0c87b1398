import { documentMax } from "../../cluster/documents/document-sizes.ts";
import type { DocumentAnswer, DocumentName } from "../../cluster/snapshot.ts";
import { isOwnFailure } from "../../cluster/values/failure.ts";
import type { NodeConnection, NodeReply } from "../client/client.ts";
import type { ProbeContext } from "../client/probe-context.ts";
import { tooMuchToParse } from "../parse/parse-budget.ts";
import { readDocumentAfter, type DocumentRequest } from "../parse/parse-response.ts";
import type { DocumentSource } from "./document-source.ts";

/** How a request for a document ended. */
export type DocumentResult =
  | { readonly kind: "answered" }
  /**
   * `isUnreachable`: no connection, which is no evidence about the DCS. `isTimeout`: no response within the timeout.
   */
  | { readonly kind: "failed"; readonly isUnreachable: boolean; readonly isTimeout: boolean }
  /** The prober was stopped in the meantime. */
  | { readonly kind: "stopped" };

/** Requests documents, one at a time from each node, and records the results. */
export class DocumentRequests {
  readonly #context: ProbeContext;
  readonly #clients = new Map<string, NodeConnection>();
  readonly #inFlight = new Set<string>();
  /** The last response for each document, from whichever node. */
  readonly #last = new Map<DocumentName, DocumentAnswer>();
  #isStopped = false;

  constructor(context: ProbeContext) {
    this.#context = context;
  }

  /** Whether a request to the node is in flight. */
  isBusy({ api }: DocumentSource): boolean {
    return this.#inFlight.has(api);
  }

  /**
   * Requests `GET /{name}` and records the result.
   * @param sentAtMs the send time to record, in ms of the clock; must not be after the real one
   */
  async get(
    name: DocumentName,
    source: DocumentSource,
    sentAtMs: number = this.#context.now(),
  ): Promise<DocumentResult> {
    if (this.#isStopped) return { kind: "stopped" };
    this.#inFlight.add(source.api);
    const reply = await this.#clientFor(source.api).get(`/${name}`, documentMax.other);
    this.#inFlight.delete(source.api);
    return this.#isStopped ? { kind: "stopped" } : this.#record(reply, { name, source, sentAtMs });
  }

  /** Closes the connections to all but the given origins, except those with a request in flight. */
  keepOnly(origins: ReadonlySet<string>): void {
    for (const [origin, client] of this.#clients) {
      if (origins.has(origin) || this.#inFlight.has(origin)) continue;
      client.close();
      this.#clients.delete(origin);
    }
  }

  /** The next requests open new connections: to all origins, or to some. */
  reconnect(origins: Iterable<string> = [...this.#clients.keys()]): void {
    for (const origin of origins) {
      this.#clients.get(origin)?.close();
      this.#clients.delete(origin);
    }
  }

  /** Closes all connections. No result is recorded from now on. */
  stop(): void {
    this.#isStopped = true;
    this.reconnect();
  }

  #record(reply: NodeReply, { name, source, sentAtMs }: SentRequest): DocumentResult {
    const { cluster, now, record, onProbeFinished } = this.#context;
    const last = this.#last.get(name) ?? null;
    const answer = this.#read(reply, last, { name, source: this.#nameNow(source), sentAtMs });
    if (!("failure" in answer)) this.#last.set(name, answer);
    const outcome = "failure" in answer ? answer.failure.kind : "answered";
    onProbeFinished({ cluster, node: source.name, endpoint: name, outcome, durationMs: now() - sentAtMs });
    if (!("failure" in answer)) {
      record({ kind: "document", cluster, answer });
      return { kind: "answered" };
    }
    const { failure } = answer;
    // A `/cluster` document is the node's view of who leads. A request that never left this process says nothing about
    // the node.
    if (name === "cluster" && !isOwnFailure(failure))
      record({ kind: "view_failure", cluster, node: source.name, sentAtMs, failure });
    const isUnreachable = isOwnFailure(failure) || ["refused", "unreachable"].includes(failure.kind);
    return { kind: "failed", isUnreachable, isTimeout: failure.kind === "timeout" };
  }

  /** Meanwhile the address may have become another node's, or no node's any more. */
  #nameNow({ api }: DocumentSource): string {
    const { state, policy } = this.#context;
    const known = state().nodes.find((node) => node.node.api === api && (node.proof !== "none" || !policy().discovers));
    return known?.node.name ?? api;
  }

  /** A document equal to the last one is not parsed again, and costs nothing. */
  #read(reply: NodeReply, last: DocumentAnswer | null, request: DocumentRequest): ReturnType<typeof readDocumentAfter> {
    const { parsing } = this.#context;
    const isFree = "failure" in reply || parsing === undefined || reply.body.toString("utf8") === last?.served.body;
    return isFree || parsing.allows(reply.body) ? readDocumentAfter(reply, last, request) : { failure: tooMuchToParse };
  }

  #clientFor(origin: string): NodeConnection {
    const known = this.#clients.get(origin);
    if (known !== undefined) return known;
    const client = this.#context.connect(origin);
    this.#clients.set(origin, client);
    return client;
  }
}

interface SentRequest {
  readonly name: DocumentName;
  readonly source: DocumentSource;
  readonly sentAtMs: number;
}
