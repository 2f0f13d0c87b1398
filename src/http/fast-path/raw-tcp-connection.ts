import { bytesOf, bytesRead, type Handle, isWritePending, makeWriteRequest, type WriteRequest } from "./tcp-handle.ts";

/** What became of a write: given to the system, partly waiting for the peer to read, or in vain. */
export type Written = "sent" | "waiting" | "lost";

const owner: unique symbol = Symbol("the bare connection of a handle");

interface Owned extends Handle {
  [owner]?: Reader | undefined;
}

/** Who is told what a handle reads. `null` is its end, or an error. */
type Reader = (buffer: Buffer | null, length: number) => void;

/** One for all connections: what was read is taken before the next read. */
const shared = Buffer.allocUnsafeSlow(65_536);
/** A write that is done at once leaves its request as it was, for the next one. */
let spare: WriteRequest | null = null;

/**
 * A TCP connection without the streams that Node puts around it, which are most of what a check would cost. Whoever has it reads by
 * `read`, and hears by `gone`, once, that it is closed or given back.
 */
export abstract class RawTcpConnection {
  readonly #handle: Owned;
  #isOpen = true;
  #isSharing = false;

  constructor(handle: Handle) {
    this.#handle = handle;
    this.#handle[owner] = (buffer, length) => {
      try {
        if (buffer === null) this.close();
        else this.read(buffer, length);
      } catch (error) {
        this.fail(error);
      }
    };
    handle.onread = onOwnRead;
  }

  /** Takes the first `length` bytes of `buffer`, which is used again afterwards. */
  protected abstract read(buffer: Buffer, length: number): void;
  /** The connection is another's, or nobody's, from now on. */
  protected abstract onClosed(): void;
  /** Something threw on the connection, which is closed. Must not throw. */
  protected abstract failed(error: unknown): void;

  /** Begins to read. */
  start(): void {
    if (this.#handle.readStart() !== 0) this.close();
  }

  /**
   * Makes ready for more than one answer: reads on without a buffer for each chunk, and lets no answer wait until the one before it is
   * acknowledged, which the first has nothing to wait for.
   */
  enableKeepAlive(): void {
    if (this.#isSharing) return;
    this.#isSharing = true;
    this.#handle.setNoDelay(true);
    this.#handle.useUserBuffer(shared);
    this.#handle.onread = onSharedRead;
  }

  write(bytes: Buffer): Written {
    return this.#write(bytes, undefined);
  }

  /** Writes, and closes once that is written. */
  end(bytes: Buffer): void {
    if (this.#write(bytes, () => this.#closeWritten()) === "waiting") this.#handle.readStop();
    else this.close();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#leave();
    this.#handle.close();
  }

  /**
   * Closes the connection for what threw on it. Never throws: the system's callbacks are its callers, and what they throw ends the process.
   */
  fail(error: unknown): void {
    this.failed(error);
    try {
      if (this.#isOpen) this.#leave();
    } catch (again) {
      this.failed(again);
    }
    this.#handle.close();
  }

  /** Gives the connection back, to `adopt`, which makes a socket of it as of one that has just come. What waits to be written goes first. */
  releaseHandle(adopt: (handle: Handle) => void): void {
    if (!this.#isOpen) return;
    this.#handle.readStop();
    this.#leave();
    adopt(this.#handle);
    if (this.#isSharing) unshare(this.#handle);
  }

  /** The system calls this. */
  #closeWritten(): void {
    try {
      this.close();
    } catch (error) {
      this.fail(error);
    }
  }

  #write(bytes: Buffer, oncomplete: (() => void) | undefined): Written {
    const request = spare ?? makeWriteRequest();
    spare = null;
    if (this.#handle.writeBuffer(request, bytes) !== 0) return "lost";
    if (isWritePending()) {
      if (oncomplete !== undefined) request.oncomplete = oncomplete;
      return "waiting";
    }
    spare = request;
    return "sent";
  }

  #leave(): void {
    this.#isOpen = false;
    this.#handle[owner] = undefined;
    this.onClosed();
  }
}

function onOwnRead(this: Owned, chunk: ArrayBuffer | undefined): void {
  const length = bytesRead();
  if (length !== 0) this[owner]?.(length < 0 || chunk === undefined ? null : bytesOf(chunk), length);
}

function onSharedRead(this: Owned): void {
  const length = bytesRead();
  if (length !== 0) this[owner]?.(length < 0 ? null : shared, length);
}

/** A handle cannot be told to use chunks of its own again: so a socket that is made of it gets copies. */
function unshare(handle: Handle): void {
  const { onread } = handle;
  if (typeof onread !== "function") return;
  handle.onread = function onCopiedRead(this: Handle): unknown {
    const length = bytesRead();
    const chunk = length > 0 ? new Uint8Array(shared.subarray(0, length)).buffer : undefined;
    return Reflect.apply(onread, this, [chunk]);
  };
}
