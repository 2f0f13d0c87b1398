import { createServer as createPlainServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { Server as NetServer } from "node:net";
import type { SecureContextOptions } from "node:tls";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";

/** The longest request head in bytes. A longer one is answered 431. */
const headMax = 16_384;

/**
 * Creates the HTTP server of a listener, with TLS if it is configured. @throws Error if the TLS files cannot be used
 */
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
    // How long after its time limit a slow client may be closed.
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
      // The listener refuses such a connection itself, in words (`hasVerifiedCertificate`).
      rejectUnauthorized: false,
    },
    onRequest,
  );
}

/** Stops accepting. Each connection stays until its next answer, so that no request that is under way is lost. */
export function stopAccepting(server: Server): void {
  // The method of node:http would close idle connections, too.
  NetServer.prototype.close.call(server);
  server.prependListener("request", (_, response) => (response.shouldKeepAlive = false));
}
