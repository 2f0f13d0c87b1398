import { Server as HttpServer } from "node:http";
import { Server as HttpsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import type { TestContext } from "node:test";

/** Listens on a free port until the test is over. */
export async function listenDuringTest(
  context: TestContext,
  server: Server,
  address: string = "127.0.0.1",
): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, address, resolve));
  context.after(() => {
    server.close();
    if (server instanceof HttpServer || server instanceof HttpsServer) server.closeAllConnections();
  });
  return portOf(server);
}

/** Listens on a free port of 127.0.0.1 until it is closed; closing cuts what is still connected. */
export async function listenUntilClosed(
  server: HttpServer | HttpsServer,
): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port: portOf(server), close };
}

export function portOf(server: Server): number {
  // A listening TCP server has an AddressInfo (node:net).
  return (server.address() as AddressInfo).port;
}

/** The file descriptor of a listening server, as a parent process passes it on. */
export function descriptorOf(server: object): number {
  const handle: unknown = Reflect.get(server, "_handle");
  const fd: unknown = typeof handle === "object" && handle !== null ? Reflect.get(handle, "fd") : undefined;
  if (typeof fd !== "number") throw new Error("Cannot pass the socket on: this system does not show its descriptor");
  return fd;
}
