import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Credentials } from "./credentials.ts";

/** A response of a running rolecall. */
export interface RolecallReply {
  readonly status: number;
  readonly phrase: string;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** The maximum size of a response, in bytes. */
const responseMax = 16 * 1024 * 1024;

/**
 * Sends one request on a connection of its own, and reads the whole response. Follows no redirect, so that credentials
 * reach only the given URL.
 * @throws Error if the connection fails or the response is too long
 */
export function exchangeOnce(
  url: URL,
  options: RequestOptions & { readonly signal: AbortSignal },
  { tls, body }: { readonly tls: Credentials["tls"]; readonly body: string | null },
): Promise<RolecallReply> {
  return new Promise((resolve, reject) => {
    const request =
      url.protocol === "https:"
        ? httpsRequest(url, { ...options, ...tls, agent: false })
        : httpRequest(url, { ...options, agent: false });
    request.once("error", reject);
    request.once("response", (message) => {
      readAll(message).then(
        (text) =>
          resolve({
            status: message.statusCode ?? 0,
            phrase: message.statusMessage ?? "",
            headers: message.headers,
            text,
          }),
        reject,
      );
    });
    request.end(body ?? undefined);
  });
}

async function readAll(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > responseMax) throw new Error(`the response has more than ${responseMax} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}
