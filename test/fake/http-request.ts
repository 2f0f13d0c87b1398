import { request as plainRequest, type IncomingHttpHeaders } from "node:http";
import { request as tlsRequest, type RequestOptions } from "node:https";

/** A response. */
export interface HttpAnswer {
  readonly status: number;
  /** The reason phrase of the status line. */
  readonly phrase: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The request besides its address. */
export interface RequestParts {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** For https: ca, cert, key and the like. */
  readonly tls?: RequestOptions;
}

/** Sends one request on a connection of its own. Rejects if there is no complete response. */
export function sendRequest(
  url: string,
  { method = "GET", headers = {}, body, tls = {} }: RequestParts = {},
): Promise<HttpAnswer> {
  const text = body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body);
  const options: RequestOptions = {
    method,
    agent: false,
    headers: { ...(text === null ? {} : { "content-length": String(Buffer.byteLength(text)) }), ...headers },
    ...tls,
  };
  return new Promise((resolve, reject) => {
    const clientRequest = (url.startsWith("https:") ? tlsRequest : plainRequest)(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          phrase: response.statusMessage ?? "",
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    clientRequest.on("error", reject);
    clientRequest.end(text ?? undefined);
  });
}
