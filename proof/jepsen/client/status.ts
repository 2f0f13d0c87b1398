/** One HTTP request, from the namespace of this process. */
import { request } from "node:http";
import { addressOf, type MachineName } from "../machines/addresses.ts";

/** The status of the answer at port 8008 of a machine; 0 if none came within the deadline. Never throws. */
export function statusOf(machine: MachineName, path: string, deadlineMs = 1_000): Promise<number> {
  return call({ host: addressOf(machine), port: 8008, path, deadlineMs }).then(({ status }) => status);
}

export interface Call {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly deadlineMs: number;
  /** Sent as JSON, with POST; none: GET. */
  readonly body?: object;
  /** Whether the answer has no end: what came within the deadline is the answer. */
  readonly isStream?: boolean;
}

/** Sends a request on a new connection. Status 0: no complete answer within the deadline. Never throws. */
export function call({
  host,
  port,
  path,
  deadlineMs,
  body,
  isStream = false,
}: Call): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    const method = body === undefined ? "GET" : "POST";
    let partial: () => { status: number; text: string } = () => ({ status: 0, text: "" });
    const sent = request({ host, port, path, method, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", () => {});
      const answer = (): { status: number; text: string } => ({
        status: response.statusCode ?? 0,
        text: Buffer.concat(chunks).toString(),
      });
      response.on("end", () => resolve(answer()));
      if (isStream) partial = answer;
    });
    const deadline = setTimeout(() => sent.destroy(), deadlineMs);
    sent.on("error", () => {}); // "close" follows
    sent.on("close", () => {
      clearTimeout(deadline);
      resolve(partial()); // no effect after an answer
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
