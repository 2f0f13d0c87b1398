import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Result } from "../../src/core/command/result/document.ts";
import { resultSchema } from "../../src/core/command/result/schema.ts";

const ajv = new Ajv2020({ strict: true, allErrors: true });
addFormats.default(ajv);
const judge = ajv.compile(structuredClone(resultSchema));

/** Whether a value conforms to the schema by a validator that is none of ours. */
export function conformsToResultSchema(value: unknown): boolean {
  return judge(value);
}

/** Takes a text that must be exactly one `cli.result/v1` document. */
export function assertResultDocument(text: string): Result {
  const value = JSON.parse(text) as Result;
  assert.ok(conformsToResultSchema(value), JSON.stringify(judge.errors));
  return value;
}
