import { schemaVersion } from "./document.ts";

/** A JSON value, such as a schema. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const text: Json = { type: "string" };
const nonEmptyText: Json = { type: "string", minLength: 1 };

function object(required: readonly string[], properties: { readonly [key: string]: Json }): Json {
  return { type: "object", required, properties };
}

function listOf(name: string): Json {
  return { type: "array", items: { $ref: `#/$defs/${name}` } };
}

/** The JSON Schema (draft 2020-12) of `cli.result/v1`. Every object allows additional fields (docs/cli.md). */
export const resultSchema: { readonly [key: string]: Json } = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "cli.result/v1: the result of one command run",
  type: "object",
  required: ["schema_version", "version", "command", "exit_code", "diagnostics", "coverage", "evidence"],
  properties: {
    schema_version: { const: schemaVersion },
    version: text,
    command: text,
    site: text,
    exit_code: { type: "integer", enum: [0, 1, 2] },
    diagnostics: listOf("Diagnostic"),
    coverage: listOf("Coverage"),
    evidence: listOf("Evidence"),
    data: {},
  },
  $defs: {
    Diagnostic: object(["rule_id", "severity", "message", "action"], {
      rule_id: nonEmptyText,
      severity: { type: "string", enum: ["info", "warning", "error"] },
      message: text,
      action: text,
      incomplete: { type: "boolean" },
      disposition: text,
      review: { $ref: "#/$defs/Review" },
      location: { $ref: "#/$defs/Location" },
    }),
    Review: object(["reason", "reviewed_by", "reviewed_at"], {
      reason: nonEmptyText,
      reviewed_by: nonEmptyText,
      reviewed_at: { type: "string", format: "date-time" },
    }),
    Location: object(["file"], {
      file: text,
      line: { type: "integer", minimum: 1 },
      pointer: text,
      kind: { type: "string", enum: ["source", "output"] },
    }),
    Coverage: object(["id", "status", "required", "detail"], {
      id: text,
      status: { type: "string", enum: ["complete", "not_checked", "not_applicable", "incomplete", "unsupported"] },
      required: { type: "boolean" },
      detail: text,
    }),
    Evidence: object(["command", "stdout", "stderr", "exit_code"], {
      command: { type: "array", items: text },
      directory: text,
      stdout: text,
      stderr: text,
      exit_code: { type: "integer" },
    }),
  },
};
