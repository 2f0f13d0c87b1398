import { createServer } from "node:http";
import { open } from "./listening.ts";

/** A call that a server was sent. */
export interface Heard {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly type: string | undefined;
  readonly authorization: string | undefined;
}

export interface Answering {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, a text as it is. */
  readonly body: unknown;
  /** Never answers. */
  readonly isSilent?: boolean;
}

/** A real server that answers as it is told by path (`METHOD /path` before `/path`) and keeps what it heard. */
export async function serveAnswers(
  answers: Readonly<Record<string, Answering>>,
): Promise<{ url: string; heard: readonly Heard[]; close(): Promise<void> }> {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const text = Buffer.concat(chunks).toString();
      heard.push({
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
  const { port, close } = await open(server);
  return { url: `http://127.0.0.1:${port}`, heard, close };
}
