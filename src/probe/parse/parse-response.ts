import { parseClusterDocument } from "../../cluster/documents/cluster-document.ts";
import { parseDynamicConfig } from "../../cluster/documents/dynamic-config.ts";
import { parseHistory } from "../../cluster/documents/history.ts";
import { parseJson } from "../../cluster/values/json.ts";
import type { Failure } from "../../cluster/observation.ts";
import { parseReport, type Report } from "../../cluster/documents/report.ts";
import type { DocumentAnswer, DocumentName } from "../../cluster/snapshot.ts";
import type { NodeReply } from "../client/client.ts";

/** A node's own word: the lock bit and the status document in one `GET /leader`. */
export type StatusResult = { readonly report: Report; readonly hasLock: boolean } | { readonly failure: Failure };

/** A status reply that was read, to be recognised when it comes again. */
export interface ReadStatus {
  readonly status: number;
  readonly text: string;
  readonly result: StatusResult;
}

/**
 * Reads the reply to `GET /leader` where an equal one may have come before: that one is not parsed again and gives its own result.
 * @param last the node's reply before this one
 */
export function readStatusAfter(reply: NodeReply, last: ReadStatus | null): ReadStatus | { readonly failure: Failure } {
  if ("failure" in reply) return reply;
  const text = reply.body.toString("utf8");
  return last !== null && last.status === reply.status && last.text === text
    ? last
    : { status: reply.status, text, result: readStatus(reply, text) };
}

/** Reads the reply to `GET /leader`. Only 200 and 503 with a readable document are answers (design.md, rule 8). */
export function readStatus(reply: NodeReply, text?: string): StatusResult {
  if ("failure" in reply) return reply;
  if (reply.status !== 200 && reply.status !== 503) {
    return { failure: { kind: "status", detail: `status ${reply.status} where 200 or 503 was expected` } };
  }
  const document = text ?? reply.body.toString("utf8");
  const report = parseReport(parseJson(document));
  if (report === undefined) return { failure: { kind: "body", detail: `no status document: ${excerpt(reply.body)}` } };
  return { report, hasLock: reply.status === 200 };
}

/** Reads the reply to `GET /liveness`: a bare status. `undefined` when it says nothing of the heartbeat loop. */
export function readLiveness(reply: NodeReply): boolean | undefined {
  if ("failure" in reply) return undefined;
  return reply.status === 200 ? true : reply.status === 503 ? false : undefined;
}

/**
 * Reads the reply to one of the cluster's documents where an equal one may have come before, of whichever node: that one is not parsed
 * again, and its text is not held twice.
 * @param last the document as it was answered before, or `null`
 */
export function readDocumentAfter(
  reply: NodeReply,
  last: DocumentAnswer | null,
  asked: DocumentRequest,
): DocumentAnswer | { failure: Failure } {
  if ("failure" in reply) return reply;
  const { of, name, sentAtMs } = asked;
  const isEqual =
    last !== null && last.served.status === reply.status && last.served.body === reply.body.toString("utf8");
  return isEqual
    ? { ...last, served: { ...last.served, source: of, sentAtMs } }
    : readDocument(name, reply, { of, sentAtMs });
}

/** Which document was asked of whom, and when, in ms of our clock. */
export interface DocumentRequest {
  readonly name: DocumentName;
  readonly of: string;
  readonly sentAtMs: number;
}

/**
 * Reads the reply to one of the cluster's documents. A 502 of `/config` or `/failsafe` is an answer too: there is none.
 * @returns a failure where the document could not be had or read
 */
export function readDocument(
  name: DocumentName,
  reply: NodeReply,
  asked: { readonly of: string; readonly sentAtMs: number },
): DocumentAnswer | { failure: Failure } {
  if ("failure" in reply) return reply;
  const body = reply.body.toString("utf8");
  const served = { status: reply.status, body, source: asked.of, sentAtMs: asked.sentAtMs };
  if (reply.status === 502 && (name === "config" || name === "failsafe"))
    return { name, served: { ...served, body: "" } };
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
