import type { RuntimeAddress } from "../../core/config/model/config.ts";
import { RuntimeSession } from "./runtime-session.ts";

/**
 * Runs commands that only read on a connection of their own: opens it, asks, closes it.
 * @param limits how long it may take, in ms, and what ends it at once
 * @returns one answer for each command
 * @throws RuntimeApiError if the Runtime API cannot be used
 */
export async function readRuntimeApi(
  address: RuntimeAddress,
  commands: readonly string[],
  { deadlineMs, signal }: { readonly deadlineMs: number; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const session = new RuntimeSession(address, deadlineMs);
  const close = (): void => session.close();
  signal.addEventListener("abort", close);
  try {
    signal.throwIfAborted();
    session.open();
    return await session.run(commands);
  } finally {
    signal.removeEventListener("abort", close);
    session.close();
  }
}
