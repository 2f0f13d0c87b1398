import { Server, Socket } from "node:net";
import type { SendHandle } from "node:child_process";

/** Where to listen: an address, or a socket that listens already: inherited (systemd), or had from another process of ours. */
export type BindTarget =
  { readonly address: string; readonly port: number } | { readonly fd: number } | { readonly handle: SendHandle };

/**
 * The bare socket under a listening server, to be sent to another process with `process.send`. Sent as a server it would begin to accept
 * where it arrives; bare, it only keeps the port open there, until it is listened on. Node has no public name for it.
 * @returns `undefined` where the server does not listen
 */
export function bareSocket(server: Server): SendHandle {
  const handle: unknown = Reflect.get(server, "_handle");
  return isSendHandle(handle) ? handle : undefined;
}

/** The bare socket of a descriptor that this process inherited. */
export function socketOfDescriptor(fd: number): SendHandle {
  const handle: unknown = Reflect.get(new Socket({ fd, readable: false, writable: false }), "_handle");
  return isSendHandle(handle) ? handle : undefined;
}

/** Lets go of a bare socket. */
export function closeBareSocket(handle: SendHandle): void {
  if (handle instanceof Server || handle instanceof Socket || handle === undefined) return;
  const close: unknown = Reflect.get(handle, "close");
  if (typeof close === "function") Reflect.apply(close, handle, []);
}

/** Node sends whatever has sockets under it, and says so itself where it does not. */
function isSendHandle(value: unknown): value is Exclude<SendHandle, undefined> {
  return typeof value === "object" && value !== null && "fd" in value;
}
