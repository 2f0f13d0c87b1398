/** Frames of HTTP/2 (RFC 9113) as bytes, valid or not, for clients that no library would let be so rude. */

/** What every connection of a client begins with. */
export const preface: Buffer = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** The types of frames. */
export const frameTypes = {
  data: 0,
  headers: 1,
  rst: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;

/** The flags of frames. */
export const frameFlags = { endStream: 1, ack: 1, endHeaders: 4 } as const;

/** One frame. */
export interface Frame {
  readonly type: keyof typeof frameTypes;
  readonly flags?: number;
  /** The number of the stream; 0: the connection. */
  readonly stream?: number;
  readonly payload?: Buffer;
}

/** The bytes of a frame. */
export function frame({ type, flags = 0, stream = 0, payload = Buffer.alloc(0) }: Frame): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(frameTypes[type], 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Headers as literals without indexing and without Huffman codes (RFC 7541, 6.2.2). */
export function headerBlock(headers: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(headers.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]));
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  return Buffer.concat([integer(bytes.length), bytes]);
}

/** An integer with a prefix of 7 bits (RFC 7541, 5.1). */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.from([value]);
  const bytes = [127];
  let left = value - 127;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return Buffer.from([...bytes, left]);
}

/** The headers of a call. @param more replace those of a good call, or are added */
export function callHeaders(path: string, more: Readonly<Record<string, string>> = {}): readonly [string, string][] {
  const headers = {
    ":method": "POST",
    ":scheme": "http",
    ":path": path,
    ":authority": "rolecall",
    te: "trailers",
    "content-type": "application/grpc",
    ...more,
  };
  return Object.entries(headers);
}

/** The frame that opens a call. */
export function openCall(stream: number, path: string, more: Readonly<Record<string, string>> = {}): Buffer {
  return frame({
    type: "headers",
    flags: frameFlags.endHeaders,
    stream,
    payload: headerBlock(callHeaders(path, more)),
  });
}

/** A message with its length in front, as gRPC has it. */
export function message(bytes: Buffer, isCompressed = false): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(isCompressed ? 1 : 0, 0);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** Bytes in frames that every server takes. */
export function dataFrames(stream: number, bytes: Buffer): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 16_384)
    frames.push(frame({ type: "data", stream, payload: bytes.subarray(at, at + 16_384) }));
  return Buffer.concat(frames);
}
