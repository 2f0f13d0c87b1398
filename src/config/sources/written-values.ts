import type * as z from "zod";
import { isMapping } from "../model/issue.ts";

/** Parses a value of the file. @returns `undefined` if it is invalid */
export function readValue<T>(schema: z.ZodType<T>, value: unknown): T | undefined {
  const read = schema.safeParse(value);
  return read.success ? read.data : undefined;
}

/** @returns the value if it is a text */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Whether a value is written: neither missing nor `null`. */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The fields of a mapping; none of anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isMapping(value) ? value : {};
}

/** The first 1,000 elements of a list; none of anything else. */
export function elementsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, 1000) : [];
}
