import type { TLSSocket } from "node:tls";

/**
 * Whether the client has presented a certificate that was verified. `authorized` alone does not say so: Node also sets
 * it when a client without a certificate resumes a TLS 1.3 session.
 */
export function hasVerifiedCertificate(socket: TLSSocket): boolean {
  return socket.authorized && socket.getPeerX509Certificate() !== undefined;
}
