import type { ListenerConfig } from "../../config/model/config.ts";

/** A listener could not be opened. */
export class ListenError extends Error {
  readonly code: string;
  readonly listener: ListenerConfig;
  override readonly cause: NodeJS.ErrnoException;

  constructor(listener: ListenerConfig, cause: NodeJS.ErrnoException) {
    const { address, port } = listener;
    super(`Cannot listen on ${address}:${port}: ${problemOf(cause)}`);
    this.name = "ListenError";
    this.code = cause.code ?? "";
    this.listener = listener;
    this.cause = cause;
  }
}

function problemOf({ syscall, code, message }: NodeJS.ErrnoException): string {
  const isOfNetwork = syscall !== undefined && syscall !== "open" && syscall !== "read";
  return isOfNetwork
    ? `it must be a free port on an address of this machine, got ${code ?? message}`
    : `its certificate, key and token files must be readable and match, got: ${message}`;
}
