import type { IncomingMessage } from "node:http";
import { InFlight } from "./in-flight.ts";

/** Bodies that are received at a time, of one address and of all: each may be as long as `limits.body` allows. */
const bodiesPerAddress = 8;
const bodiesMax = 64;

/** Limits how many request bodies are received at a time, so that they fill no memory and a slow client holds up only itself. */
export class ReceivedBodies {
  readonly #inFlight = new InFlight();

  /**
   * Counts a body that a client at this address begins to send.
   * @returns what is to be called once when it has been read; `null` where that would be too many
   */
  enter(address: string): (() => void) | null {
    const leaveOwn = this.#inFlight.enter(address, bodiesPerAddress);
    if (leaveOwn === null) return null;
    const leaveAll = this.#inFlight.enter("all", bodiesMax);
    if (leaveAll === null) leaveOwn();
    return leaveAll === null
      ? null
      : () => {
          leaveOwn();
          leaveAll();
        };
  }
}

/** A body read to its end; or that it is longer than allowed; or that the client went away. */
export type RequestBody =
  { readonly kind: "whole"; readonly bytes: Buffer } | { readonly kind: "too_large" } | { readonly kind: "gone" };

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
