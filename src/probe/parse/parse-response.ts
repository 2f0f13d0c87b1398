import { parseClusterDocument } from "../../cluster/documents/cluster-document.ts";
import { parseDynamicConfig } from "../../cluster/documents/dynamic-config.ts";
import { parseHistory } from "../../cluster/documents/history.ts";
import { parseJson } from "../../cluster/values/json.ts";
import type { Failure } from "../../cluster/observation.ts";
import { parseReport, type Report } from "../../cluster/documents/report.ts";
import type { DocumentAnswer, DocumentName } from "../../cluster/snapshot.ts";
import type { NodeReply } from "../client/client.ts";
import { exceedsLimits, type JsonLimits } from "./json-size.ts";

/**
 * The result of `GET /leader`: the status document, and whether the HTTP status (200) says that the node holds the
 * lock.
 */
export type StatusResult = { readonly report: Report; readonly hasLock: boolean } | { readonly failure: Failure };

/** A parsed status reply, kept to recognise an equal one. */
export interface ParsedStatusReply {
  readonly status: number;
  readonly body: Buffer;
  readonly result: StatusResult;
}

/**
 * Reads the reply to `GET /leader`. A reply equal to the previous one is not parsed again.
 * @param last the node's previous reply, or `null`. Its memory is used again for a body of the same length
 * @returns `last` itself if the reply is equal to it
 */
export function readStatusAfter(
  reply: NodeReply,
  last: ParsedStatusReply | null,
): ParsedStatusReply | { readonly failure: Failure } {
  if ("failure" in reply) return reply;
  const { status, body } = reply;
  if (last !== null && last.status === status && last.body.equals(body)) return last;
  // A copy: the client's own buffer has much more than this body.
  const kept = last?.body.length === body.length ? last.body : Buffer.allocUnsafeSlow(body.length);
  body.copy(kept);
  return { status, body: kept, result: readStatus(reply, body.toString("utf8")) };
}

/** More than the status document of a primary with 256 standbys has. */
const statusLimits: JsonLimits = { members: 4_096, separators: 8_192 };
/** More than a list of 256 members, or a history of 10,000 timelines, has. */
const documentLimits: JsonLimits = { members: 8_192, separators: 65_536 };
const tooManyValues: Failure = { kind: "too_large", detail: "a document with too many members or values" };

/**
 * Only 200 and 503 with a readable document are answers (rule 8).
 * @param text the body as text
 */
function readStatus({ status, body }: Exclude<NodeReply, { failure: Failure }>, text: string): StatusResult {
  if (status !== 200 && status !== 503) {
    return { failure: { kind: "status", detail: `status ${status} where 200 or 503 was expected` } };
  }
  if (exceedsLimits(body, statusLimits)) return { failure: tooManyValues };
  const report = parseReport(parseJson(text), text);
  if (report === undefined) return { failure: { kind: "body", detail: `no status document: ${excerpt(body)}` } };
  return { report, hasLock: status === 200 };
}

/**
 * Reads the reply to `GET /liveness`, a bare status. `undefined` if it is no evidence about the node's heartbeat
 * loop.
 */
export function readLiveness(reply: NodeReply): boolean | undefined {
  if ("failure" in reply) return undefined;
  return reply.status === 200 ? true : reply.status === 503 ? false : undefined;
}

/**
 * Reads the reply with one of the cluster's documents. A reply equal to the previous one, from any node, is not parsed
 * again, and the old text is kept.
 * @param last the previous answer for the same document, or `null`
 */
export function readDocumentAfter(
  reply: NodeReply,
  last: DocumentAnswer | null,
  request: DocumentRequest,
): DocumentAnswer | { failure: Failure } {
  if ("failure" in reply) return reply;
  const { source, name, sentAtMs } = request;
  const isEqual =
    last !== null && last.served.status === reply.status && last.served.body === reply.body.toString("utf8");
  return isEqual
    ? { ...last, served: { ...last.served, source, sentAtMs } }
    : readDocument(name, reply, { source, sentAtMs });
}

/** Which document was requested from which node. */
export interface DocumentRequest {
  readonly name: DocumentName;
  readonly source: string;
  /** In ms of the clock. */
  readonly sentAtMs: number;
}

/**
 * Reads the reply with one of the cluster's documents. A 502 from `/config` or `/failsafe` is an answer too: the
 * cluster has no such document.
 * @returns a failure if there is no readable document
 */
export function readDocument(
  name: DocumentName,
  reply: NodeReply,
  { source, sentAtMs }: Pick<DocumentRequest, "source" | "sentAtMs">,
): DocumentAnswer | { failure: Failure } {
  if ("failure" in reply) return reply;
  const body = reply.body.toString("utf8");
  const served = { status: reply.status, body, source, sentAtMs };
  if (reply.status === 502 && (name === "config" || name === "failsafe"))
    return { name, served: { ...served, body: "" } };
  if (exceedsLimits(reply.body, documentLimits)) return { failure: tooManyValues };
  const value = reply.status === 200 ? parseJson(body) : undefined;
  if (value === undefined)
    return {
      failure: {
        kind: reply.status === 200 ? "body" : "status",
        detail: `status ${reply.status}: ${excerpt(reply.body)}`,
      },
    };
  switch (name) {
    case "cluster": {
      const cluster = parseClusterDocument(value);
      return cluster === undefined
        ? { failure: { kind: "body", detail: "a cluster document without members" } }
        : { name, served, cluster };
    }
    case "config":
      return { name, served, config: parseDynamicConfig(value) };
    case "history":
      return { name, served, history: parseHistory(value) };
    case "failsafe":
      return { name, served };
  }
}

function excerpt(body: Buffer): string {
  return JSON.stringify(body.subarray(0, 80).toString("utf8"));
}
