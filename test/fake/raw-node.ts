import { createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** A TCP server on a free port. The test handles each connection. It is closed when the test ends. */
export async function serveRaw(
  context: TestContext,
  onConnection: (socket: Socket) => void,
): Promise<{ readonly origin: string; readonly port: number }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  context.after(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { origin: `http://127.0.0.1:${port}`, port };
}

/** A server that answers each request head with the same bytes, and then closes, unless it keeps the connection. */
export function serveBytes(
  context: TestContext,
  bytes: string | Buffer,
  { keeps = false } = {},
): ReturnType<typeof serveRaw> {
  return serveRaw(context, (socket) => {
    socket.on("data", () => {
      socket.write(bytes);
      if (!keeps) socket.end();
    });
  });
}

/** How a raw node ends what it wrote: with FIN, with RST, or not at all. */
export type RawEnd = "close" | "reset" | "keep";

/** What a raw node answers: the bytes, in one piece or several, and how it ends them. */
export interface RawAnswer {
  readonly pieces: readonly Buffer[];
  readonly end: RawEnd;
}

/** A request as a raw node reads it. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: ReadonlyMap<string, string>;
}

/**
 * A server that reads request heads and answers each with bytes that the test chooses, without an HTTP library.
 */
export function serveRawAnswers(
  context: TestContext,
  answer: (request: RawRequest) => RawAnswer,
): ReturnType<typeof serveRaw> {
  return serveRaw(context, (socket) => {
    let head = "";
    socket.on("data", (chunk) => {
      head += chunk.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      const [line = "", ...lines] = head.slice(0, end).split("\r\n");
      head = "";
      const [method = "", path = ""] = line.split(" ");
      const headers = new Map(
        lines.map((text): [string, string] => [
          text.split(":", 1)[0]?.toLowerCase() ?? "",
          text.replace(/^[^:]*: */, ""),
        ]),
      );
      write(socket, answer({ method, path, headers }));
    });
  });
}

function write(socket: Socket, { pieces, end }: RawAnswer): void {
  const [first, ...rest] = pieces;
  if (first !== undefined) {
    socket.write(first, () => setImmediate(write, socket, { pieces: rest, end }));
  } else if (end === "close") socket.end();
  else if (end === "reset") socket.resetAndDestroy();
}

/** A whole JSON answer, as nodes write it. */
export function jsonAnswer(status: number, document: unknown): RawAnswer {
  const body = JSON.stringify(document);
  const head = `HTTP/1.0 ${status} X\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  return { pieces: [Buffer.from(head + body)], end: "close" };
}
