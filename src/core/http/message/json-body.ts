import type { IncomingMessage } from "node:http";
import { isObject, parseJson, type JsonObject } from "../../cluster/values/json.ts";
import { errorReply, type Reply } from "./reply.ts";
import { readBody } from "./request-body.ts";

/** The object in a body, or the reply that refuses the body. */
export type JsonBody = { readonly ok: true; readonly body: JsonObject } | { readonly ok: false; readonly reply: Reply };

/** The longest body that is accepted by default, in bytes. */
const bodyMax = 16_384;

/**
 * Reads the JSON body of a call that changes state. An empty body is an empty object. The call must state the content
 * type `application/json`: a browser does not send that to another site without a preflight request (Fetch standard,
 * "CORS-safelisted request-header").
 * @param max the longest body, in bytes
 * @returns the object; or the reply for the error: 415, 413 or 400
 */
export async function readJsonBody(message: IncomingMessage, max: number = bodyMax): Promise<JsonBody> {
  const type = message.headers["content-type"] ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    return problem(
      415,
      "unsupported_media_type",
      `Cannot read this body: its Content-Type must be application/json, got ${JSON.stringify(type)}`,
    );
  }
  const read = await readBody(message, max);
  if (read.kind === "too_large")
    return problem(413, "too_large", `Cannot read this body: it must have at most ${max} bytes`);
  if (read.kind === "aborted")
    return problem(400, "bad_request", "Cannot read this body: the client closed the connection before its end");
  const value = read.bytes.length === 0 ? {} : parseJson(read.bytes.toString("utf8"));
  return isObject(value)
    ? { ok: true, body: value }
    : problem(400, "bad_request", "Cannot read this body: it must be one JSON object");
}

function problem(code: number, error: string, message: string): JsonBody {
  return { ok: false, reply: errorReply(code, error, { message }) };
}
