import type { Server } from "node:net";

/**
 * What Node has under its sockets: its own handles of TCP connections. It documents none of this; it is alike in Node 20, 22, 24 and 26,
 * and all that is known of it is in this file and bare-connection.ts. Where anything is not as expected nothing is taken,
 * and every connection goes the way Node gives it.
 */
export interface Handle {
  onread: unknown;
  readStart(): number;
  readStop(): number;
  /** Writes at once what the system takes, and the rest later. @returns 0, or the system's error as a negative number */
  writeBuffer(request: WriteRequest, bytes: Buffer): number;
  /** Has all that is read put here from now on, for good, and `onread` called without a chunk. */
  useUserBuffer(buffer: Buffer): void;
  setNoDelay(on: boolean): void;
  getpeername(out: { address?: string }): number;
  close(): void;
}

/** Stands for a write while it waits. */
export interface WriteRequest {
  oncomplete?: () => void;
}

interface Internals {
  readonly WriteWrap: new () => WriteRequest;
  /** Where the handles tell of their last read and write, by the places that follow. */
  readonly streamBaseState: Int32Array;
  readonly kReadBytesOrError: number;
  readonly kArrayBufferOffset: number;
  readonly kLastWriteWasAsync: number;
}

interface ListeningHandle {
  onconnection: (status: number, handle: Handle) => void;
}

const internals: Internals | null = findInternals();

/** Whether this Node shows its handles as they are known here. */
export const hasSupportedInternals: boolean = internals !== null;

/** How many bytes the read was that is being told of; 0 for none, negative at the end of the stream or for an error. */
export function bytesRead(): number {
  return internals === null ? 0 : (internals.streamBaseState[internals.kReadBytesOrError] ?? 0);
}

/** The bytes of a read that was put into a chunk of its own. */
export function bytesOf(chunk: ArrayBuffer): Buffer {
  return Buffer.from(chunk, internals?.streamBaseState[internals.kArrayBufferOffset], bytesRead());
}

/** Whether the last write is not done yet. */
export function isWritePending(): boolean {
  return internals !== null && internals.streamBaseState[internals.kLastWriteWasAsync] !== 0;
}

/** @throws Error where this Node does not show its handles: then there is none to write to */
export function makeWriteRequest(): WriteRequest {
  if (internals === null) throw new Error("Cannot write to a bare connection as this Node shows none");
  return new internals.WriteWrap();
}

/**
 * Takes the connections that a server accepts, from now on.
 * @param server listens already
 * @param take says whether it takes a connection; what it leaves goes the server's own way
 * @returns gives a connection to the server as if it had just come; `null` where nothing can be taken: no TCP, or another Node
 */
export function interceptConnections(
  server: Server,
  take: (handle: Handle) => boolean,
): ((handle: Handle) => void) | null {
  const listening: unknown = Reflect.get(server, "_handle");
  if (internals === null || !isListening(listening)) return null;
  const { onconnection } = listening;
  const leave = (status: number, handle: Handle): unknown => Reflect.apply(onconnection, listening, [status, handle]);
  listening.onconnection = (status, handle) => {
    if (status !== 0 || !take(handle)) leave(status, handle);
  };
  return (handle) => void leave(0, handle);
}

/** The address of a connection's peer; empty where it is gone already. */
export function peerOf(handle: Handle): string {
  const out: { address?: string } = {};
  handle.getpeername(out);
  return out.address ?? "";
}

function findInternals(): Internals | null {
  try {
    const [stream, tcp] = ["stream_wrap", "tcp_wrap"].map((name): unknown =>
      Reflect.apply(Reflect.get(process, "binding"), process, [name]),
    );
    return process.platform !== "win32" && isInternals(stream) && hasHandle(tcp) ? stream : null;
  } catch {
    return null; // a Node that has none to show, or is told not to
  }
}

function isInternals(value: unknown): value is Internals {
  if (typeof value !== "object" || value === null) return false;
  const places = ["kReadBytesOrError", "kArrayBufferOffset", "kLastWriteWasAsync"];
  return (
    typeof Reflect.get(value, "WriteWrap") === "function" &&
    Reflect.get(value, "streamBaseState") instanceof Int32Array &&
    places.every((name) => typeof Reflect.get(value, name) === "number")
  );
}

function hasHandle(value: unknown): boolean {
  const TCP: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "TCP") : undefined;
  if (typeof TCP !== "function") return false;
  const methods = ["readStart", "readStop", "writeBuffer", "useUserBuffer", "setNoDelay", "getpeername", "close"];
  return methods.every((name) => typeof Reflect.get(TCP.prototype, name) === "function");
}

/** Only a TCP server's handle knows a name of its socket. */
function isListening(value: unknown): value is ListeningHandle {
  return (
    typeof value === "object" &&
    value !== null &&
    "getsockname" in value &&
    typeof Reflect.get(value, "onconnection") === "function"
  );
}
