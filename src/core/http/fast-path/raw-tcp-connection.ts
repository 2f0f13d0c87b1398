import type { PassToServer } from "./intercept-connections.ts";
import type { TcpHandle } from "./node-internals.ts";
import type { TcpIo, WriteResult } from "./tcp-io.ts";

const owner: unique symbol = Symbol("the connection that owns a handle");

interface OwnedHandle extends TcpHandle {
  [owner]?: ((chunk: unknown) => void) | undefined;
}

/**
 * A TCP connection without the streams that Node puts around it, which cost more than a check itself. A subclass gets
 * what is read in `read`. It gets `onClosed` once, when the connection is closed or released.
 *
 * Its callers are callbacks of libuv, and what they throw ends the process. So whatever a subclass throws goes to
 * `failed` instead.
 */
export abstract class RawTcpConnection {
  readonly #handle: OwnedHandle;
  readonly #io: TcpIo;
  #isOpen = true;
  #usesSharedBuffer = false;

  constructor(handle: TcpHandle, io: TcpIo) {
    this.#handle = handle;
    this.#io = io;
    this.#handle[owner] = (chunk) => this.#receive(chunk);
    handle.onread = onRead;
  }

  /** Gets the first `length` bytes of `buffer`, which the next read of any connection overwrites. */
  protected abstract read(buffer: Buffer, length: number): void;
  /** The connection is closed, or another owner has it. */
  protected abstract onClosed(): void;
  /** The connection threw and is closed. Must not throw. */
  protected abstract failed(error: unknown): void;

  /** Starts to read. @throws Error if the system refuses */
  start(): void {
    const code = this.#handle.readStart();
    if (code !== 0) throw new Error(`Cannot read from a new connection: the result must be 0, got ${code}`);
  }

  /**
   * Prepares for more than one answer. Further reads use the shared buffer instead of one buffer each, and no answer
   * waits until the one before it is acknowledged. The first answer does not need either.
   */
  enableKeepAlive(): void {
    if (this.#usesSharedBuffer) return;
    this.#usesSharedBuffer = true;
    this.#handle.setNoDelay(true);
    this.#handle.useUserBuffer(this.#io.buffer);
  }

  /** Reads nothing more until {@link resume}. */
  pause(): void {
    if (this.#isOpen) this.#handle.readStop();
  }

  /** Reads again. Never throws. */
  resume(): void {
    if (!this.#isOpen) return;
    try {
      this.start();
    } catch (error) {
      this.fail(error);
    }
  }

  write(bytes: Buffer): WriteResult {
    return this.#io.write(this.#handle, bytes);
  }

  /** Writes, and closes the connection when the system has taken all bytes. */
  end(bytes: Buffer): void {
    const onWritten = (): void => {
      try {
        this.close();
      } catch (error) {
        this.fail(error);
      }
    };
    if (this.#io.write(this.#handle, bytes, onWritten) === "waiting") this.#handle.readStop();
    else this.close();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#leave();
    this.#handle.close();
  }

  /** Closes the connection because of what it threw. Never throws. */
  fail(error: unknown): void {
    this.failed(error);
    try {
      if (this.#isOpen) this.#leave();
    } catch (further) {
      this.failed(further);
    }
    this.#handle.close();
  }

  /**
   * Passes the connection to `passToServer`, which makes a socket of it. Writes that wait are sent first.
   * @returns whether it was open
   */
  releaseHandle(passToServer: PassToServer): boolean {
    if (!this.#isOpen) return false;
    this.#handle.readStop();
    this.#leave();
    passToServer(this.#handle);
    if (this.#usesSharedBuffer) copyReads(this.#handle, this.#io);
    return true;
  }

  /** @param chunk what was read, if it is not in the shared buffer */
  #receive(chunk: unknown): void {
    try {
      const length = this.#io.bytesRead();
      if (length < 0) this.close();
      else if (length > 0)
        this.read(this.#usesSharedBuffer ? this.#io.buffer : this.#io.bytesOf(chunk, length), length);
    } catch (error) {
      this.fail(error);
    }
  }

  #leave(): void {
    this.#isOpen = false;
    this.#handle[owner] = undefined;
    this.onClosed();
  }
}

/** Node calls this after each read, with the handle as `this`. */
function onRead(this: OwnedHandle, chunk: unknown): void {
  this[owner]?.(chunk);
}

/** A handle cannot leave the shared buffer again. So a socket that is made of it gets copies of what is read. */
function copyReads(handle: TcpHandle, io: TcpIo): void {
  const { onread } = handle;
  if (typeof onread !== "function") return;
  handle.onread = function onCopiedRead(this: TcpHandle): unknown {
    const length = io.bytesRead();
    const chunk = length > 0 ? new Uint8Array(io.buffer.subarray(0, length)).buffer : undefined;
    return Reflect.apply(onread, this, [chunk]);
  };
}
