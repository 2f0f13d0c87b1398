import type { IncomingMessage } from "node:http";
import type { BodyBudget } from "./body-budget.ts";
import { type JsonBody, readJsonBody } from "./json-body.ts";
import { errorReply } from "./reply.ts";

/** Up to so many bytes, any number of bodies may be received at the same time. */
const smallMax = 16_384;

/**
 * Reads the JSON body of a call that may be long, as {@link readJsonBody}: few of them are received at the same time.
 * @param max the longest body, in bytes
 * @param budget what long bodies may take in memory
 * @param who the caller
 * @returns the object; or the reply for the error, 503 while too many are being received
 */
export async function readBudgetedBody(
  message: IncomingMessage,
  max: number,
  { budget, who }: { readonly budget: Pick<BodyBudget, "reserve">; readonly who: string },
): Promise<JsonBody> {
  const stated = Number(message.headers["content-length"] ?? max);
  if (stated <= smallMax) return readJsonBody(message);
  const release = budget.reserve(Math.min(stated, max), who);
  if (release === null) {
    const text = "Cannot read this body: too many of this size are being received";
    return { ok: false, reply: errorReply(503, "busy", { message: text }) };
  }
  try {
    return await readJsonBody(message, max);
  } finally {
    release();
  }
}
