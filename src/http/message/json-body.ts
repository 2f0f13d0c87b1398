import type { IncomingMessage } from "node:http";
import { isObject, parseJson, type JsonObject } from "../../cluster/values/json.ts";
import { errorReply, type Reply } from "./reply.ts";

/** A body that was read, or the reply that refuses it. */
export type JsonBody = { readonly ok: true; readonly body: JsonObject } | { readonly ok: false; readonly reply: Reply };

/** The longest body that is read, in bytes. */
const bodyMax = 16_384;

/**
 * Reads the body of a call that changes something. It must say that it is JSON: a browser cannot be tricked into sending
 * that to another site without asking first (Fetch standard, "CORS-safelisted request-header").
 * @returns the object, or the reply that says what is wrong: 415, 413 or 400
 */
export async function readJsonBody(message: IncomingMessage): Promise<JsonBody> {
  const type = message.headers["content-type"] ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    return problem(
      415,
      "unsupported_media_type",
      `Cannot read this body as its Content-Type must be application/json: it is ${JSON.stringify(type)}`,
    );
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message) {
    if (!Buffer.isBuffer(chunk)) continue;
    length += chunk.length;
    if (length <= bodyMax) chunks.push(chunk);
    else return problem(413, "too_large", `Cannot read this body as it must have at most ${bodyMax} bytes`);
  }
  const value = length === 0 ? {} : parseJson(Buffer.concat(chunks).toString("utf8"));
  return isObject(value)
    ? { ok: true, body: value }
    : problem(400, "bad_request", "Cannot read this body as it must be one JSON object");
}

function problem(code: number, error: string, message: string): JsonBody {
  return { ok: false, reply: errorReply(code, error, { message }) };
}
