import type { Socket } from "node:net";
import { buildConnector } from "undici";
import type { TlsMaterial } from "../../config/tls-material.ts";

/**
 * Connects within a time limit, in ms.
 * @param onConnection gets each new connection before it is used
 */
export function connectorOf(
  timeoutMs: number,
  tls: TlsMaterial | null,
  onConnection: (socket: Socket) => void,
): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs, ...tls });
  return (options, callback) =>
    connect(options, (...result) => {
      if (result[0] === null) onConnection(result[1]);
      callback(...result);
    });
}
