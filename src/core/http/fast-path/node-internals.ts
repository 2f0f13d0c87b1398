import type { Server, Socket } from "node:net";

/**
 * The parts of Node that rolecall uses although Node does not document them (README.md). No file outside this
 * folder uses any:
 *
 * - `process.binding("tcp_wrap")` and `process.binding("stream_wrap")`, deprecated as DEP0111. The first shows that
 *   handles of TCP connections have the methods that are called on them. The second holds the results of reads and
 *   writes.
 * - the property `_handle` of servers and sockets, and the function `onconnection` of the handle of a listening server.
 */
export interface NodeInternals {
  /** The request object of one write. */
  readonly WriteWrap: new () => WriteRequest;
  /** Where Node puts the results of the last read and write, at the indexes that follow. */
  readonly streamBaseState: Int32Array;
  readonly kReadBytesOrError: number;
  readonly kArrayBufferOffset: number;
  readonly kLastWriteWasAsync: number;
}

/** A write while the system has not taken all of its bytes. */
export interface WriteRequest {
  oncomplete?: () => void;
  /** The bytes, as long as the system may read them. */
  buffer?: Buffer;
}

/** The handle of one TCP connection: the object under a `net.Socket`. */
export interface TcpHandle {
  onread: unknown;
  readStart(): number;
  readStop(): number;
  /** Writes what the system takes now, and the rest later. @returns 0, or an error of libuv as a negative number */
  writeBuffer(request: WriteRequest, bytes: Buffer): number;
  /** From now on all reads go into `buffer`, and `onread` gets no chunk. This cannot be undone. */
  useUserBuffer(buffer: Buffer): void;
  setNoDelay(on: boolean): void;
  getpeername(out: { address?: string }): number;
  close(): void;
}

const handleMethods = ["readStart", "readStop", "writeBuffer", "useUserBuffer", "setNoDelay", "getpeername", "close"];
const stateIndexes = ["kReadBytesOrError", "kArrayBufferOffset", "kLastWriteWasAsync"];

interface ProcessWithBinding {
  binding(module: "stream_wrap" | "tcp_wrap"): unknown;
}

/** @returns the internals, or in `problem` what this Node lacks of them */
export function findNodeInternals(): NodeInternals | { readonly problem: string } {
  if (process.platform === "win32") return { problem: "handles of TCP connections differ on Windows" };
  if (!hasBinding(process)) return { problem: "process.binding does not exist" };
  try {
    const stream = process.binding("stream_wrap");
    if (!isStreamBinding(stream)) return { problem: "process.binding('stream_wrap') is not as expected" };
    if (!isTcpBinding(process.binding("tcp_wrap")))
      return { problem: "process.binding('tcp_wrap') is not as expected" };
    return stream;
  } catch (error) {
    return { problem: `process.binding throws: ${String(error)}` };
  }
}

/** The handle under a server or a socket; `undefined` before it has one and after it was closed. */
export function handleUnder(owner: Server | Socket): unknown {
  // oxlint-disable-next-line no-underscore-dangle -- Node's name
  return "_handle" in owner ? (owner._handle ?? undefined) : undefined;
}

function hasBinding(value: object): value is ProcessWithBinding {
  return "binding" in value && typeof value.binding === "function";
}

function isStreamBinding(value: unknown): value is NodeInternals {
  if (!isObject(value) || !("WriteWrap" in value) || !("streamBaseState" in value)) return false;
  if (typeof value.WriteWrap !== "function" || !(value.streamBaseState instanceof Int32Array)) return false;
  return stateIndexes.every((name) => typeof Reflect.get(value, name) === "number");
}

function isTcpBinding(value: unknown): boolean {
  if (!isObject(value) || !("TCP" in value) || typeof value.TCP !== "function") return false;
  const methods: unknown = value.TCP.prototype;
  return isObject(methods) && handleMethods.every((name) => typeof Reflect.get(methods, name) === "function");
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
