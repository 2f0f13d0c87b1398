import * as z from "zod";
import { isObject } from "../../cluster/values/json.ts";
import type { Result } from "./document.ts";
import { resultSchema } from "./schema.ts";
import { errorMessage } from "../../cluster/values/error-message.ts";

/** One violation of the schema. */
export interface Violation {
  /** JSON pointer (RFC 6901); empty for the whole document. */
  readonly pointer: string;
  readonly message: string;
}

export type ReadResult =
  { readonly ok: true; readonly result: Result } | { readonly ok: false; readonly violations: readonly Violation[] };

const violationsMax = 100;
let validator: z.ZodType | null = null;

/**
 * Reads a `cli.result/v1` document of this or another tool. Accepts unknown fields in every object.
 * @param text one JSON document
 */
export function readResult(text: string): ReadResult {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    return {
      ok: false,
      violations: [{ pointer: "", message: `must be JSON: ${errorMessage(error)}` }],
    };
  }
  if (isResult(value)) return { ok: true, result: value };
  return { ok: false, violations: violationsOf(value) };
}

/** Whether a value conforms to the schema that `rolecall result schema result` prints. */
export function isResult(value: unknown): value is Result {
  return schema().safeParse(value).success;
}

function violationsOf(value: unknown): readonly Violation[] {
  if (!isObject(value)) return [{ pointer: "", message: "must be one JSON object" }];
  const issues = schema().safeParse(value).error?.issues ?? [];
  return issues
    .slice(0, violationsMax)
    .map(({ path, message }) => ({ pointer: path.map((step) => `/${escaped(String(step))}`).join(""), message }));
}

function schema(): z.ZodType {
  validator ??= z.fromJSONSchema(structuredClone(resultSchema));
  return validator;
}

function escaped(step: string): string {
  return step.replaceAll("~", "~0").replaceAll("/", "~1");
}
