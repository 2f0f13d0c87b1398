import type { ListenerConfig } from "../../config/model/config.ts";

/**
 * Why a listener cannot be opened: its address, its certificate, key and token files, or a rule about its settings.
 */
export type ListenErrorKind = "address" | "files" | "settings";

/** The `code` of an error that {@link settingsError} creates. */
export const settingsCode = "LISTENER_SETTINGS";

/** A listener could not be opened. */
export class ListenError extends Error {
  readonly code: string;
  readonly kind: ListenErrorKind;
  readonly listener: ListenerConfig;
  override readonly cause: NodeJS.ErrnoException;

  constructor(listener: ListenerConfig, cause: NodeJS.ErrnoException) {
    const { address, port } = listener;
    const kind = kindOf(cause);
    super(`Cannot listen on ${address}:${port}: ${problemOf(kind, cause)}`);
    this.name = "ListenError";
    this.code = cause.code ?? "";
    this.kind = kind;
    this.listener = listener;
    this.cause = cause;
  }
}

/**
 * Creates an error for a listener whose settings do not allow it to open.
 * @param problem why, as a clause
 */
export function settingsError(problem: string): Error {
  return Object.assign(new Error(problem), { code: settingsCode });
}

const fileCalls: readonly string[] = ["open", "read", "stat"];

/**
 * Distinguishes the kinds by the system call in the error. Errors of the address have `listen`, `getaddrinfo` or
 * similar. Errors of files have one of `fileCalls`; invalid certificates give errors without a system call.
 */
function kindOf({ syscall, code }: NodeJS.ErrnoException): ListenErrorKind {
  if (code === settingsCode) return "settings";
  return syscall !== undefined && !fileCalls.includes(syscall) ? "address" : "files";
}

function problemOf(kind: ListenErrorKind, { code, message }: NodeJS.ErrnoException): string {
  switch (kind) {
    case "address":
      return `it must be a free port on an address of this machine, got ${code ?? message}`;
    case "files":
      return `its certificate, key and token files must be readable and match, got ${message}`;
    case "settings":
      return message;
  }
}
