import { parseClusterDocument } from "../../cluster/documents/cluster-document.ts";
import { parseDynamicConfig } from "../../cluster/documents/dynamic-config.ts";
import { isWholeHistory, parseHistory } from "../../cluster/documents/history.ts";
import { nodeJson } from "../../cluster/values/json.ts";
import { hasUnreadable, readPythonJson, withoutUnreadable, type ReadJson } from "../../cluster/values/python-json.ts";
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
  if (last !== null && repeats(reply, last)) return last;
  const { status, body } = reply;
  // A copy: the client's own buffer has much more than this body.
  const kept = last?.body.length === body.length ? last.body : Buffer.allocUnsafeSlow(body.length);
  body.copy(kept);
  return { status, body: kept, result: readStatus(reply, body.toString("utf8")) };
}

/** Whether a reply equals the node's previous one: then it is not parsed again. */
export function repeats(
  { status, body }: Exclude<NodeReply, { failure: Failure }>,
  last: ParsedStatusReply | null,
): boolean {
  return last !== null && last.status === status && last.body.equals(body);
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
  const read = readPythonJson(text);
  const report = "value" in read ? parseReport(read.value, text) : undefined;
  if (report === undefined)
    return { failure: { kind: "body", detail: `no status document: ${excerpt(body, failedAt(text, read))}` } };
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
  if (reply.status !== 200)
    return { failure: { kind: "status", detail: `status ${reply.status}: ${excerpt(reply.body, 0)}` } };
  const read = readPythonJson(body);
  if (!("value" in read))
    return { failure: { kind: "body", detail: `status 200: ${excerpt(reply.body, failedAt(body, read))}` } };
  const { value } = read;
  return withContent(name, value, { ...served, ...strictText(value, body) });
}

/** The text as strict JSON, where it is none. A document that is nested too deeply to be written is passed on as it is. */
function strictText(value: unknown, body: string): { readonly strict?: string } {
  try {
    return hasUnreadable(value, body) ? { strict: nodeJson(withoutUnreadable(value)) } : {};
  } catch {
    return {};
  }
}

function withContent(
  name: DocumentName,
  value: unknown,
  served: DocumentAnswer["served"],
): DocumentAnswer | { failure: Failure } {
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
      return { name, served, history: parseHistory(value), isHistoryPartial: !isWholeHistory(value) };
    case "failsafe":
      return { name, served };
  }
}

/** Where a text ceases to be JSON, in characters, if it begins as a document: an excerpt shows that place. */
function failedAt(text: string, read: ReadJson): number {
  return "failedAt" in read && text.startsWith("{") ? read.failedAt : 0;
}

/** How much of a body is shown, in bytes. */
const shownMax = 80;

/** Up to 80 bytes of a body around a place. */
function excerpt(body: Buffer, at: number): string {
  const from = Math.max(0, Math.min(at - shownMax / 2, body.length - shownMax));
  const text = JSON.stringify(body.subarray(from, from + shownMax).toString("utf8"));
  return from === 0 ? text : `${text}, from byte ${from} on`;
}
