/** One HTTP request on a connection of its own, like a load balancer's check. */
import { request } from "node:http";
import { request as requestOverTls } from "node:https";

export interface Question {
  readonly port: number;
  readonly path: string;
  readonly method?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly deadlineMs?: number;
  /** Connects over TLS, and trusts certificates of this authority (PEM). */
  readonly ca?: string;
}

/**
 * A response. `status` 0 means none: the connection was refused or reset, or the deadline passed. Instants are of the
 * monotonic clock.
 */
export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly contentType: string;
  readonly reason: string;
  readonly sentAtMs: number;
  readonly repliedAtMs: number;
}

/**
 * Sends one request to 127.0.0.1 on a new connection. Without a response the status is 0. The deadline (2 s) covers the
 * body. Never throws.
 */
export function ask(question: Question): Promise<Reply> {
  const { port, path, method = "GET", deadlineMs = 2000, ca } = question;
  const body = question.body === undefined ? "" : JSON.stringify(question.body);
  const ofBody =
    body === "" ? {} : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(body)) };
  const headers = { ...question.headers, ...ofBody };
  const sentAtMs = performance.now();
  return new Promise((resolve) => {
    const silence = (): void =>
      resolve({ status: 0, body: "", contentType: "", reason: "", sentAtMs, repliedAtMs: performance.now() });
    const open = ca === undefined ? request : requestOverTls;
    const clientRequest = open({ host: "127.0.0.1", port, path, method, headers, agent: false, ca }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", silence);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString(),
          contentType: response.headers["content-type"] ?? "",
          reason: response.headersDistinct["x-rolecall-reason"]?.[0] ?? "",
          sentAtMs,
          repliedAtMs: performance.now(),
        }),
      );
    });
    const deadline = setTimeout(() => clientRequest.destroy(), deadlineMs);
    clientRequest.on("close", () => {
      clearTimeout(deadline);
      silence(); // no effect if the reply was first
    });
    clientRequest.on("error", () => {}); // "close" follows
    clientRequest.end(body);
  });
}
