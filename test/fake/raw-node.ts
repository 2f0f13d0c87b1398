import { createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** A TCP server on a free port that does with each connection what a test says; it ends with the test. */
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
export function serveBytes(context: TestContext, bytes: string | Buffer, { keeps = false } = {}): ReturnType<typeof serveRaw> {
  return serveRaw(context, (socket) => {
    socket.on("data", () => {
      socket.write(bytes);
      if (!keeps) socket.end();
    });
  });
}
