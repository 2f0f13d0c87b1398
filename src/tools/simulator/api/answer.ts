import { STATUS_CODES } from "node:http";
import type { SimulatorObject, SimulatorJson } from "../model/json.ts";
import type { TextReply } from "../model/outcome.ts";

/** The response of a node: a bare status line, or a status with a body. */
export type Answer =
  | { readonly kind: "bare"; readonly status: number }
  | { readonly kind: "full"; readonly status: number; readonly contentType: string; readonly body: string };

/** Returns a bare status line: health checks by HEAD or OPTIONS, `/liveness`, `/readiness`. */
export function bare(status: number): Answer {
  return { kind: "bare", status };
}

/** Returns a JSON document. */
export function json(status: number, document: SimulatorJson | SimulatorObject): Answer {
  return { kind: "full", status, contentType: "application/json", body: JSON.stringify(document) };
}

/** Returns the text of a management call, which real nodes send as text/html. */
export function text(reply: TextReply): Answer {
  return { kind: "full", status: reply.status, contentType: "text/html", body: reply.text };
}

/** Returns an error without a text of its own: the page of Python's http.server, shortened. */
export function errorPage(status: number): Answer {
  const phrase = STATUS_CODES[status] ?? "Error";
  const body = `<!DOCTYPE HTML>\n<html><head><title>Error response</title></head><body><h1>Error response</h1><p>Error code: ${String(status)}</p><p>Message: ${phrase}.</p></body></html>\n`;
  return { kind: "full", status, contentType: "text/html;charset=utf-8", body };
}
