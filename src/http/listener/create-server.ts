import { createServer as createPlainServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { SecureContextOptions } from "node:tls";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";

/** Request heads are read up to this many bytes; what is longer is a 431. */
const headMax = 16_384;

/** Makes the HTTP server of a door: with TLS where the door has it. @throws Error where the TLS material is not usable */
export function createListenerServer(
  access: ListenerAccess,
  tls: SecureContextOptions,
  onRequest: RequestListener,
): Server {
  const { headerTimeoutMs, requestTimeoutMs, idleTimeoutMs } = access.limits;
  const options: ServerOptions = {
    headersTimeout: Math.min(headerTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: idleTimeoutMs,
    // How late a slow sender may be noticed.
    connectionsCheckingInterval: Math.max(50, Math.min(5_000, headerTimeoutMs / 2)),
    maxHeaderSize: headMax,
    requireHostHeader: false,
    noDelay: true,
  };
  if (access.tls === null) return createPlainServer(options, onRequest);
  const { client } = access.tls;
  return createTlsServer(
    {
      ...options,
      ...tls,
      handshakeTimeout: headerTimeoutMs,
      requestCert: client !== "off",
      rejectUnauthorized: client === "required",
    },
    onRequest,
  );
}
