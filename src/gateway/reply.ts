import type { ServerResponse } from "node:http";
import type { Refusal } from "./checks/refusal.ts";

/** Says no with a JSON error, in the words of the other errors of rolecall. What has begun already is cut off instead. */
export function refuse(response: ServerResponse, { status, error, message }: Refusal): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const isBusy = status === 429 || status === 503;
  writeJson(
    response,
    { error, message },
    { status, headers: { "X-Rolecall-Reason": error, ...(isBusy ? { "Retry-After": "1" } : {}) } },
  );
}

/** Writes a JSON document; what is left of the request's body is not read. */
export function writeJson(
  response: ServerResponse,
  document: unknown,
  { status, headers }: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
): void {
  const body = Buffer.from(JSON.stringify(document));
  const closes: Record<string, string> = response.req.complete ? {} : { Connection: "close" };
  response.sendDate = false;
  const ours = {
    "Cache-Control": "no-store",
    "Content-Type": "application/json",
    "Content-Length": String(body.length),
  };
  response.writeHead(status, { ...ours, ...headers, ...closes });
  response.end(response.req.method === "HEAD" ? undefined : body);
}
