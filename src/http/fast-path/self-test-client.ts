import { connect, type Socket } from "node:net";

/** Where the server of the self-test listens. */
export interface LoopbackAddress {
  readonly host: string;
  readonly port: number;
}

/** The end of each response to `exchange`. */
const responseEnd = '{"self":"test"}';

/**
 * Sends requests on one connection, each when the one before it is answered. The last one must close the connection.
 * @returns all bytes of the responses, as latin1
 * @throws Error if the connection breaks
 */
export async function exchange(
  script: readonly string[],
  address: LoopbackAddress,
  signal: AbortSignal,
): Promise<string> {
  const socket = open(address, signal);
  let text = "";
  let sent = 0;
  const sendNext = (): void => {
    const request = script[sent];
    if (request !== undefined && text.split(responseEnd).length > sent) {
      sent += 1;
      socket.write(request);
    }
  };
  sendNext();
  for await (const chunk of socket) {
    text += String(chunk);
    sendNext();
  }
  return text;
}

/** A connection whose peer requests a large response and reads it late. */
export class LargeDownload {
  readonly #socket: Socket;

  constructor(address: LoopbackAddress, signal: AbortSignal) {
    this.#socket = open(address, signal);
  }

  /** Sends a request and waits, without reading, until the response was written. */
  async request(request: string, isWritten: () => boolean): Promise<void> {
    this.#socket.write(request);
    while (!isWritten() && !this.#socket.destroyed) await new Promise((resolve) => void setImmediate(resolve));
  }

  /** Sends a request that closes the connection and reads to the end. @returns how many bytes came */
  async readToEnd(request: string): Promise<number> {
    this.#socket.write(request);
    let length = 0;
    for await (const chunk of this.#socket) length += String(chunk).length;
    return length;
  }
}

function open(address: LoopbackAddress, signal: AbortSignal): Socket {
  const socket = connect({ ...address, noDelay: true });
  socket.setEncoding("latin1");
  socket.on("error", () => {}); // the iteration throws it
  signal.addEventListener("abort", () => socket.destroy(new Error(String(signal.reason))), { once: true });
  return socket;
}
