import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { renderReply } from "../message/http1-serializer.ts";
import { rejectionReply, type Rejection } from "./rejection.ts";

/** How long a client may take to read a refusal, in ms, and how many more of its bytes are read meanwhile. */
const lingerMs = 1_000;
const lingerBytesMax = 65_536;

/**
 * Answers a connection without node:http and closes it. First only the writing side is closed, and what the client
 * still sends is read and dropped: a reset could overtake the answer (RFC 9112, 9.6).
 */
export function refuseRaw(socket: Socket, rejection: Rejection): void {
  if (!socket.writable || socket.destroyed) {
    socket.destroy();
    return;
  }
  socket.end(rendered(rejection));
  let length = 0;
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
  socket.once("end", () => socket.destroySoon());
  socket.on("error", () => {}); // a reset: the client is gone
  socket.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > lingerBytesMax) socket.destroy();
  });
  if (socket.readableEnded) socket.destroySoon();
}

/**
 * Answers a request whose body cannot be read, and closes its connection at once: the body must not become complete any
 * more.
 */
export function refuseRequest(message: IncomingMessage, rejection: Rejection): void {
  message.socket.write(rendered(rejection));
  message.destroy();
}

function rendered(rejection: Rejection): Buffer {
  return renderReply(rejectionReply(rejection), { method: "GET", keepsConnection: false, idleTimeoutMs: 0 });
}
