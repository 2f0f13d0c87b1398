import { STATUS_CODES, type ServerResponse } from "node:http";
import { writeReply } from "../message/http-exchange.ts";
import { jsonReply } from "../message/reply.ts";
import type { Refusal } from "../../health/calls/refusal.ts";

/** Writes a refusal as a JSON error. Destroys a response that has begun already: it must not look complete. */
export function refuse(response: ServerResponse, { status, error, message }: Refusal): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const isTemporary = status === 429 || status === 503;
  writeJson(
    response,
    { error, message },
    { status, headers: ["X-Rolecall-Reason", error, ...(isTemporary ? ["Retry-After", "1"] : [])] },
  );
}

/** Writes a JSON document. `headers`: name, value, name, value, … */
export function writeJson(
  response: ServerResponse,
  document: unknown,
  { status, headers }: { readonly status: number; readonly headers: readonly string[] },
): void {
  const phrase = STATUS_CODES[status] ?? "";
  const reply = jsonReply({ code: status, phrase }, JSON.stringify(document), headers);
  writeReply(response, reply, response.req.method ?? "GET");
}
