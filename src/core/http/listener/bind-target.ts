import type { SendHandle } from "node:child_process";
import { type AddressInfo, Server, Socket } from "node:net";
import { handleUnder } from "../fast-path/node-internals.ts";

/**
 * Where to listen: an address, or a socket that listens already, inherited (systemd) or received from another process
 * of rolecall.
 */
export type BindTarget =
  { readonly address: string; readonly port: number } | { readonly fd: number } | { readonly handle: SendHandle };

/** How many connections may wait to be accepted. */
const backlog = 4_096;

/**
 * Starts to listen.
 * @returns the port: a free one if the target's is 0
 * @throws the system's error, with its `code` (EADDRINUSE, EACCES, EADDRNOTAVAIL)
 */
export function listenOn(server: Server, target: BindTarget): Promise<number> {
  return new Promise((resolve, reject) => {
    const onListening = (): void => {
      server.removeListener("error", reject);
      // A failing accept (no file descriptor left) must not end the process.
      server.on("error", () => {});
      resolve(portOf(server.address()));
    };
    server.once("error", reject);
    if ("handle" in target) server.listen(target.handle, backlog, onListening);
    else if ("fd" in target) server.listen({ fd: target.fd, backlog }, onListening);
    else server.listen({ host: target.address, port: target.port, backlog }, onListening);
  });
}

/**
 * The bare socket under a listening server, to be sent to another process with `process.send`. A process that received
 * a `Server` would accept connections at once. One that receives the bare socket only keeps the port open, until it
 * calls {@link listenOn} with that socket.
 * @returns `undefined` if the server does not listen
 */
export function bareSocket(server: Server): SendHandle {
  const handle = handleUnder(server);
  return isSendHandle(handle) ? handle : undefined;
}

/** Resolves when a server that no longer listens has no connection. */
export function connectionsEnded(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.on("close", resolve);
    // It may have been emitted before, and is again for connections that are passed to the server later.
    server.getConnections((_, count) => {
      if (count === 0) resolve();
    });
  });
}

/** The bare socket of a file descriptor that this process inherited. */
export function socketOfDescriptor(fd: number): SendHandle {
  const handle = handleUnder(new Socket({ fd, readable: false, writable: false }));
  return isSendHandle(handle) ? handle : undefined;
}

/** Closes the copy of a bare socket that this process has. */
export function closeBareSocket(handle: SendHandle): void {
  if (handle instanceof Server || handle instanceof Socket || handle === undefined) return;
  if ("close" in handle && typeof handle.close === "function") handle.close();
}

/** A check for `fd` is enough: `process.send` throws if it cannot send the object. */
function isSendHandle(value: unknown): value is Exclude<SendHandle, undefined> {
  return typeof value === "object" && value !== null && "fd" in value;
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}
