import type { IncomingMessage } from "node:http";

/** A body read to its end; or that it is longer than allowed; or that the client went away. */
export type RequestBody = { readonly kind: "whole"; readonly bytes: Buffer } | { readonly kind: "too_large" } | { readonly kind: "gone" };

/**
 * Reads a body of at most `max` bytes. A call begins at the node only when its body is whole: half a configuration never gets there.
 * Settles at the latest when the listener's request timeout closes the connection.
 */
export function readBody(message: IncomingMessage, max: number): Promise<RequestBody> {
  if (message.destroyed && !message.complete) return Promise.resolve({ kind: "gone" });
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
    // An error is followed by "close"; after "end" neither says anything new.
    message.on("error", () => resolve({ kind: "gone" }));
    message.on("close", () => resolve({ kind: "gone" }));
  });
}
