import { Client } from "undici";
import type { PeerConfig } from "../config/peer-schema.ts";
import { firstLine } from "../../../core/config/access-material.ts";
import { readTls } from "../../../core/config/tls-material.ts";
import { objectOf, parseJson } from "../../../core/cluster/values/json.ts";
import { withoutUnsafe } from "../../../core/cluster/values/unsafe-text.ts";
import { socketProblem } from "../../../core/balancing/socket-problem.ts";

/** The connection to a peer, with the credentials that were read when it was made. */
export interface PeerSession {
  readonly client: Client;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PeerReply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Each request to a peer must be answered within this time, in ms, where nothing else is said. */
export const requestMs = 500;
/** The longest answer of a peer, in bytes. */
const answerMax = 65_536;

/** Gets ready to speak to a peer. @throws Error if a file cannot be read */
export function openSession({ url, tls, tokenFile }: PeerConfig): PeerSession {
  const token = tokenFile === null ? null : firstLine(tokenFile).trim();
  return {
    client: new Client(url, {
      connect: { timeout: requestMs, ...(tls === null ? {} : readTls(tls)) },
      pipelining: 1,
      maxResponseSize: answerMax,
      headersTimeout: 0,
      bodyTimeout: 0,
    }),
    headers: {
      "content-type": "application/json",
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
  };
}

export interface PeerRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body: string | null;
  readonly limitMs: number;
}

/** Sends a request and reads the whole answer. @throws Error if it is not there within the limit */
export async function send({ client, headers }: PeerSession, { limitMs, ...request }: PeerRequest): Promise<PeerReply> {
  const signal = AbortSignal.timeout(limitMs);
  try {
    const { statusCode, body } = await client.request({ ...request, headers, signal });
    return { status: statusCode, body: objectOf(parseJson(await body.text())) };
  } catch (error) {
    throw signal.aborted ? new Error(`no answer within ${limitMs} ms`, { cause: error }) : error;
  }
}

/** A text of an answer, safe in logs. */
export function nameIn({ body }: PeerReply, key: string): string | null {
  const value = body[key];
  return typeof value === "string" && value !== "" ? withoutUnsafe(value.slice(0, 500)) : null;
}

/** What an error says, for people. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { syscall }: NodeJS.ErrnoException = error;
  // A file that is missing has the same code as a socket.
  return (syscall === "connect" ? socketProblem(error) : null) ?? error.message;
}
