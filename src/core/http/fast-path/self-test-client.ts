import { connect, type Socket } from "node:net";

/** Where the server of the self-test listens. */
export interface LoopbackAddress {
  readonly host: string;
  readonly port: number;
}

/** The end of each response to `exchange`. */
const responseEnd = '{"self":"test"}';
const readBufferBytes = 65_536;

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

/**
 * A connection whose client does not read until the end. Its reads use one small buffer, so the self-test costs little
 * memory.
 */
export class LateReader {
  readonly #socket: Socket;
  readonly #read: { bytes: number };

  private constructor(socket: Socket, read: { bytes: number }) {
    this.#socket = socket;
    this.#read = read;
  }

  /** Opens the connection. @param signal closes it */
  static open(address: LoopbackAddress, signal: AbortSignal): LateReader {
    const read = { bytes: 0 };
    const onRead = (length: number): boolean => {
      read.bytes += length;
      return true;
    };
    const onread = { buffer: Buffer.allocUnsafe(readBufferBytes), callback: onRead };
    const socket = watched(connect({ ...address, noDelay: true, onread }), signal);
    socket.pause();
    return new LateReader(socket, read);
  }

  /** Sends a request and waits, without reading, until `isAnswered` or the connection breaks. */
  async request(request: string, isAnswered: () => boolean): Promise<void> {
    this.#socket.write(request);
    while (!isAnswered() && !this.#socket.destroyed) await new Promise((resolve) => void setImmediate(resolve));
  }

  /** Sends a request that closes the connection and reads to the end. @returns how many bytes came in all */
  async readToEnd(request: string): Promise<number> {
    this.#socket.write(request);
    const closed = new Promise<void>((resolve) => void this.#socket.once("close", () => resolve()));
    this.#socket.resume();
    if (!this.#socket.destroyed) await closed;
    return this.#read.bytes;
  }
}

function open(address: LoopbackAddress, signal: AbortSignal): Socket {
  return watched(connect({ ...address, noDelay: true }), signal).setEncoding("latin1");
}

function watched(socket: Socket, signal: AbortSignal): Socket {
  socket.on("error", () => {}); // the reader notices that it was closed
  signal.addEventListener("abort", () => socket.destroy(new Error(String(signal.reason))), { once: true });
  return socket;
}
