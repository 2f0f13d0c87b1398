import type { RuntimeAddress } from "../../config/model/config.ts";
import { RuntimeSession } from "./runtime-session.ts";

/**
 * Runs commands that only read on a connection of their own: opens it, asks, closes it.
 * @param deadlineMs how long it may take, in ms
 * @returns one answer for each command
 * @throws RuntimeApiError if the Runtime API cannot be used
 */
export async function readRuntimeApi(
  address: RuntimeAddress,
  commands: readonly string[],
  deadlineMs: number,
): Promise<readonly string[]> {
  const session = new RuntimeSession(address, deadlineMs);
  try {
    session.open();
    return await session.run(commands);
  } finally {
    session.close();
  }
}
