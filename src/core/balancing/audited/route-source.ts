import type { PoolReading } from "./reading.ts";

/** Reads what one target has now. Changes nothing there; each read has a connection of its own, and a limit. */
export interface RouteSource {
  /**
   * @param signal ends the read at once
   * @throws Error if it cannot be read; the message says why
   */
  read(signal: AbortSignal): Promise<readonly PoolReading[]>;
}
