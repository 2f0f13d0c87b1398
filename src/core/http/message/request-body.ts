import type { IncomingMessage } from "node:http";

/** A complete body; or the body is longer than allowed; or the client closed its connection before its end. */
export type RequestBody =
  { readonly kind: "whole"; readonly bytes: Buffer } | { readonly kind: "too_large" } | { readonly kind: "aborted" };

/**
 * Reads a request's body. Settles at the latest when the listener's request timeout closes the connection.
 * @param max the longest body that is accepted, in bytes
 */
export function readBody(message: IncomingMessage, max: number): Promise<RequestBody> {
  if (message.destroyed && !message.complete) return Promise.resolve({ kind: "aborted" });
  if (Number(message.headers["content-length"] ?? 0) > max) return Promise.resolve({ kind: "too_large" });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    message.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= max) chunks.push(chunk);
      else {
        message.pause();
        resolve({ kind: "too_large" });
      }
    });
    message.on("end", () => resolve({ kind: "whole", bytes: Buffer.concat(chunks) }));
    // "close" follows "error", and also "end": the first one settles the promise.
    message.on("error", () => resolve({ kind: "aborted" }));
    message.on("close", () => resolve({ kind: "aborted" }));
  });
}
