import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { buildConnector } from "undici";
import type { TlsMaterial } from "../../config/tls-material.ts";

/** How often the validity of a certificate that is refused for it is asked, in ms. */
const validityGapMs = 30_000;

/**
 * Connects within a time limit, in ms. The error for a certificate that has expired, or is not valid yet, says when.
 * @param onConnection gets each new connection before it is used
 */
export function connectorOf(
  timeoutMs: number,
  tls: TlsMaterial | null,
  onConnection: (socket: Socket) => void,
): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs, ...tls });
  let validity: string | null = null;
  let askedAtMs = -Infinity;
  return (options, callback) =>
    connect(options, (...result) => {
      const [error] = result;
      if (error === null) onConnection(result[1]);
      else if (isOutOfDate(error)) {
        const nowMs = performance.now();
        if (nowMs - askedAtMs >= validityGapMs) {
          askedAtMs = nowMs;
          askValidity(options, { tls: { ...tls }, timeoutMs }, (found) => (validity = found));
        }
        if (validity !== null) error.message = validity;
      } else validity = null;
      callback(...result);
    });
}

function isOutOfDate(error: Error): boolean {
  return "code" in error && (error.code === "CERT_HAS_EXPIRED" || error.code === "CERT_NOT_YET_VALID");
}

/**
 * Reads the validity of a server's certificate over a connection of its own, because Node does not give that of a
 * certificate that it refuses. Sends no request there. Ends after `timeoutMs` at the latest.
 * @param tell called with the validity; not called if the server does not answer in time
 */
function askValidity(
  { hostname, port }: Pick<buildConnector.Options, "hostname" | "port">,
  { tls: { servername, ...material }, timeoutMs }: { readonly tls: TlsMaterial; readonly timeoutMs: number },
  tell: (validity: string) => void,
): void {
  const host = hostname.replace(/^\[|\]$/g, "");
  const name = servername === undefined ? {} : { servername };
  const socket = connectTls({ ...material, ...name, host, port: Number(port || 443), rejectUnauthorized: false });
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  timer.unref();
  socket.on("error", () => socket.destroy());
  socket.once("close", () => clearTimeout(timer));
  socket.once("secureConnect", () => {
    const { valid_from: from, valid_to: to } = socket.getPeerCertificate();
    socket.destroy();
    const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
    if (Number.isNaN(fromMs) || Number.isNaN(toMs)) return;
    tell(`valid from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}`);
  });
}
