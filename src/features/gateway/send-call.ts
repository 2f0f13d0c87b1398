import { type ClientRequest, type IncomingHttpHeaders, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import type { OwnCallAnswer } from "../../core/cluster/management-call.ts";
import { tlsTo } from "../../core/config/tls-material.ts";
import { errorCode, neverArrived } from "../../core/http/forwarding/call-failure.ts";
import type { NodeCredentials } from "../../core/http/forwarding/node-credentials.ts";

/** A call that rolecall itself makes. */
export interface OwnCall {
  readonly method: string;
  /** Base address as `http://host:port`. */
  readonly origin: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly credentials: NodeCredentials;
  /** The deadline for the whole answer, in ms. */
  readonly timeoutMs: number;
  /** Whether it may be sent, looked at when the connection is open: this process may have stood still since. */
  readonly mayStill?: () => boolean;
}

/** The longest answer that is read, in bytes: a switchover is answered with one line. */
const answerMax = 64 * 1024;

/** Sends a call once. Always resolves: nobody knows whether a call that failed halfway was executed. */
export function sendCall(call: OwnCall): Promise<OwnCallAnswer> {
  const { method, origin, path, headers, body, credentials, timeoutMs, mayStill } = call;
  const url = new URL(path, origin);
  const tls = tlsTo(origin, credentials.tls, credentials.serverNames) ?? {};
  const auth = credentials.auth === null ? {} : { auth: credentials.auth };
  const signal = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve) => {
    const fail = (error: Error): void => {
      const code = errorCode(error);
      const problem = signal.aborted ? `no answer within ${timeoutMs} ms` : code;
      resolve({ problem, mayBeExecuted: signal.aborted || !neverArrived(code) });
    };
    try {
      const options = { method, headers, signal, agent: false as const, ...auth };
      const sent = url.protocol === "https:" ? requestHttps(url, { ...options, ...tls }) : requestHttp(url, options);
      sent.on("error", fail);
      sent.once("response", (answer) => {
        const pieces: Buffer[] = [];
        let length = 0;
        answer.on("error", fail);
        answer.on("data", (piece: Buffer) => {
          length += piece.length;
          if (length <= answerMax) pieces.push(piece);
          else sent.destroy(new Error(`an answer of more than ${answerMax} bytes`));
        });
        answer.once("end", () =>
          resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(pieces).toString("utf8") }),
        );
        answer.once("close", () => fail(new Error("the node closed the connection before the end of its answer")));
      });
      sent.once("close", () => fail(new Error("no answer")));
      if (mayStill === undefined) sent.end(body);
      else
        sendWhenOpen(sent, () => {
          if (mayStill()) return sent.end(body);
          resolve({ withheld: true });
          return sent.destroy();
        });
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/** Waits until the connection of a request is open, and TLS is agreed. The head of a request is sent with its body. */
function sendWhenOpen(sent: ClientRequest, send: () => void): void {
  sent.once("socket", (socket: Socket) => {
    const event = "encrypted" in socket ? "secureConnect" : "connect";
    if (socket.connecting || event === "secureConnect") socket.once(event, send);
    else send();
  });
}
