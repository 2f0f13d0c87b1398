import { connect } from "node:net";

/** What came back on one connection, and how it ended. */
export interface Exchange {
  readonly bytes: string;
  /** `open`: nothing ended it and the server went on answering; `closed`: the server ended it. */
  readonly fate: "open" | "closed";
}

/**
 * Marks the end of an exchange: a question whose answer is like no other and closes the connection, so that nothing has
 * to be waited for.
 */
const farewell = "GET /nodes/farewell/primary HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/**
 * Writes pieces to a server one after the other, each in a packet of its own, then asks for the connection's end.
 * A server that reads on answers the farewell last; its answer tells an open connection from a closed one.
 */
export function exchange(port: number, pieces: readonly Buffer[]): Promise<Exchange> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", () => {}); // a reset is a way to be closed
    socket.on("close", () => resolve(exchangeOf(Buffer.concat(chunks).toString("latin1"))));
    const write = (at: number): void => {
      if (socket.destroyed || socket.writableEnded) return;
      if (at < pieces.length) socket.write(pieces[at] ?? Buffer.alloc(0), () => turns(4, () => write(at + 1)));
      else socket.end(farewell);
    };
    socket.on("connect", () => write(0));
  });
}

/** Lets the loop turn, so that a server in this process has read what was written before more comes. */
function turns(count: number, then: () => void): void {
  if (count === 0) then();
  else setImmediate(turns, count - 1, then);
}

const farewellAnswer =
  /HTTP\/1\.1 400 bad_request node\r\n(?:[^\r\n]+\r\n)*Connection: close\r\n\r\n\{"error":"bad_request"[^{}]*"farewell\\""\}$/;

function exchangeOf(bytes: string): Exchange {
  return farewellAnswer.test(bytes)
    ? { bytes: bytes.replace(farewellAnswer, ""), fate: "open" }
    : { bytes, fate: "closed" };
}
