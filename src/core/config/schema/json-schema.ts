import { objectOf } from "../../cluster/values/json.ts";
import * as z from "zod";

/** One node of the JSON schema tree, as far as this program reads it. */
export interface SchemaNode {
  readonly type: readonly string[];
  readonly properties: ReadonlyMap<string, SchemaNode>;
  readonly items: SchemaNode | null;
}

/**
 * Returns the JSON schema (draft 2020-12) of what is written to a configuration file.
 * @param order the keys at the top that come first
 */
export function jsonSchemaOf(schema: z.ZodType, order: readonly string[]): Readonly<Record<string, unknown>> {
  const written = z.toJSONSchema(schema, { io: "input" });
  const placeOf = (key: string): number => (order.includes(key) ? order.indexOf(key) : order.length);
  const sorted = Object.entries(written.properties ?? {}).toSorted(([one], [other]) => placeOf(one) - placeOf(other));
  return { title: "rolecall configuration", ...written, properties: Object.fromEntries(sorted) };
}

/** Reads the JSON schema as a tree. Alternatives (a mapping or null) become one node with both types. */
export function readSchema(schema: unknown): SchemaNode {
  const node = objectOf(schema);
  const alternatives = Array.isArray(node["anyOf"]) ? node["anyOf"].map(readSchema) : [];
  const types = Array.isArray(node["type"])
    ? node["type"].map(String)
    : typeof node["type"] === "string"
      ? [node["type"]]
      : [];
  const properties = Object.entries(objectOf(node["properties"])).map(([key, value]): [string, SchemaNode] => [
    key,
    readSchema(value),
  ]);
  return {
    type: [...types, ...alternatives.flatMap((alternative) => alternative.type)],
    properties: new Map([...properties, ...alternatives.flatMap((alternative) => [...alternative.properties])]),
    items:
      node["items"] === undefined
        ? (alternatives.find(({ items }) => items !== null)?.items ?? null)
        : readSchema(node["items"]),
  };
}
