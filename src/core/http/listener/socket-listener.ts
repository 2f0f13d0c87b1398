import type { SendHandle } from "node:child_process";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import type { BindTarget } from "./bind-target.ts";

/** What every listener can do, whatever protocol it speaks. `Listener` (HTTP) and
 * `ConnectionListener` implement it. */
export interface SocketListener {
  /**
   * Starts to listen.
   * @returns the port: a free one if the target's is 0
   * @throws the system's error, with its `code` (EADDRINUSE, EACCES, EADDRNOTAVAIL), if the port cannot be opened;
   * Error if a credential file cannot be used
   */
  open(target: BindTarget): Promise<number>;
  /** The listening socket, for another process to listen on too. */
  readonly socket: SendHandle;
  /** The address that the socket has; `null` if it has none, as a Unix socket. */
  readonly boundAddress: string | null;
  /**
   * Prepares other access rules.
   * @returns a function that puts them in force; connections stay
   * @throws Error if a credential file cannot be used; then nothing has changed
   */
  prepare(access: ListenerAccess): () => void;
  /** Stops accepting and closes idle connections. Running requests may finish within `graceMs`; then they are cut. */
  close(graceMs: number): Promise<void>;
  /**
   * Stops accepting. Each connection stays until its next answer, or until the listener is closed. Resolves when none is
   * left.
   */
  leave(): Promise<void>;
}
