import type * as z from "zod";
import { type ConfigIssue, type ConfigPath, describeFound, valueIssue } from "../model/issue.ts";
import { unknownName } from "./unknown-names.ts";

/**
 * Converts the errors of a schema to issues. The schema's messages say what is allowed.
 * @param value the input that the schema rejected
 * @param allowedKeys returns the keys of the mapping at a path
 */
export function shapeIssues(
  error: z.ZodError,
  value: unknown,
  allowedKeys: (path: ConfigPath) => readonly string[],
): readonly ConfigIssue[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => unknownKey([...path, key], allowedKeys(path)));
    // A user may write the password itself in place of the hash: it must not get into a log.
    const isSecret = path.at(-1) === "scrypt" && valueAt(value, path) !== undefined;
    const found = valueIssue(path, valueAt(value, path), issue.message);
    return [isSecret ? { ...found, found: "another value (not shown)" } : found];
  });
}

function unknownKey(path: ConfigPath, keys: readonly string[]): ConfigIssue {
  const key = String(path.at(-1));
  return { path, found: describeFound(key), ...unknownName(key, keys, "is not a known key"), isKey: true };
}

function valueAt(value: unknown, path: ConfigPath): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null) return undefined;
    current = new Map<string, unknown>(Object.entries(current)).get(String(step));
  }
  return current;
}
