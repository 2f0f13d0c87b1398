const signature = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");

/** A binary preamble. @param rest addresses, ports and TLVs */
export function binaryPreamble(command: number, family: number, rest: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt8(0x20 | command, 0);
  head.writeUInt8((family << 4) | (family === 0 ? 0 : 1), 1);
  head.writeUInt16BE(rest.length, 2);
  return Buffer.concat([signature, head, rest]);
}
