import { createServer } from "node:http";
import { listenUntilClosed } from "./listen.ts";

/** A request that the server received. */
export interface ReceivedCall {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly type: string | undefined;
  readonly authorization: string | undefined;
}

export interface CannedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string as it is. */
  readonly body: unknown;
  /** Never answers. */
  readonly isSilent?: boolean;
}

/**
 * A real server with one answer for each path (`METHOD /path` takes precedence over `/path`). It records the requests.
 */
export async function serveCannedAnswers(
  answers: Readonly<Record<string, CannedAnswer>>,
): Promise<{ url: string; received: readonly ReceivedCall[]; close(): Promise<void> }> {
  const received: ReceivedCall[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const text = Buffer.concat(chunks).toString();
      received.push({
        method,
        path: url,
        body: text === "" ? null : JSON.parse(text),
        type: headers["content-type"],
        authorization: headers.authorization,
      });
      const answer = answers[`${method} ${url}`] ??
        answers[url] ?? { status: 404, body: { message: `nothing at ${url}` } };
      if (answer.isSilent === true) return;
      response.writeHead(answer.status ?? 200, { "Content-Type": "application/json", ...answer.headers });
      response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
    });
  });
  const { port, close } = await listenUntilClosed(server);
  return { url: `http://127.0.0.1:${port}`, received, close };
}
