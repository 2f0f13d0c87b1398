import type { NodeInternals, TcpHandle, WriteRequest } from "./node-internals.ts";

/**
 * `sent`: the system took all bytes. `waiting`: it takes the rest when the peer reads. `lost`: the connection is
 * broken.
 */
export type WriteResult = "sent" | "waiting" | "lost";

const readBufferBytes = 65_536;

/**
 * Reads and writes for the connections of one thread, which share a read buffer and a request object of writes. Both
 * are free again when the call that uses them returns: libuv calls back for one connection after the other, and never
 * inside another callback.
 */
export class TcpIo {
  /** Holds the last read of a connection that uses it, until the next read of any connection. */
  readonly buffer: Buffer = Buffer.allocUnsafeSlow(readBufferBytes);
  readonly #internals: NodeInternals;
  /** The request of a write that the system took at once is unchanged, so the next write can use it. */
  #spare: WriteRequest | null = null;

  constructor(internals: NodeInternals) {
    this.#internals = internals;
  }

  /**
   * The number of bytes of the read that is being reported: 0 for none, negative at the end of the stream or for an
   * error.
   * @throws Error if Node reports more than the read buffer holds
   */
  bytesRead(): number {
    const { streamBaseState, kReadBytesOrError } = this.#internals;
    const length = streamBaseState[kReadBytesOrError];
    if (length === undefined || length > readBufferBytes)
      throw new Error(`Cannot read: the length must be at most ${readBufferBytes} bytes, got ${String(length)}`);
    return length;
  }

  /** The bytes of a read that has a chunk of its own. @throws Error if it is no chunk */
  bytesOf(chunk: unknown, length: number): Buffer {
    if (!(chunk instanceof ArrayBuffer))
      throw new Error(`Cannot read: the chunk must be an ArrayBuffer, got ${typeof chunk}`);
    const { streamBaseState, kArrayBufferOffset } = this.#internals;
    return Buffer.from(chunk, streamBaseState[kArrayBufferOffset], length);
  }

  /**
   * Writes bytes to a connection.
   * @param onWritten called when the system has taken all bytes, if the result is `waiting`
   */
  write(handle: TcpHandle, bytes: Buffer, onWritten?: () => void): WriteResult {
    const { WriteWrap, streamBaseState, kLastWriteWasAsync } = this.#internals;
    const request = this.#spare ?? new WriteWrap();
    this.#spare = null;
    if (handle.writeBuffer(request, bytes) !== 0) return "lost";
    if (streamBaseState[kLastWriteWasAsync] !== 0) {
      // Node does not keep the bytes alive until the system has taken them.
      request.buffer = bytes;
      if (onWritten !== undefined) request.oncomplete = onWritten;
      return "waiting";
    }
    this.#spare = request;
    return "sent";
  }
}
