import * as z from "zod";
import { isMapping } from "../model/issue.ts";
import { configSchema } from "./schema.ts";

/** One place in the JSON schema, as far as this program reads it. */
export interface SchemaNode {
  readonly type: readonly string[];
  readonly properties: ReadonlyMap<string, SchemaNode>;
  readonly items: SchemaNode | null;
}

/** The configuration's JSON schema (draft 2020-12), of what may be written into the file. This is config/schema.json. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return { title: "rolecall configuration", ...z.toJSONSchema(configSchema, { io: "input" }) };
}

/** Reads the JSON schema as a tree. Alternatives (a mapping or null) become one node with both types. */
export function readSchema(schema: unknown): SchemaNode {
  const said = fields(schema);
  const alternatives = Array.isArray(said["anyOf"]) ? said["anyOf"].map(readSchema) : [];
  const types = Array.isArray(said["type"])
    ? said["type"].map(String)
    : typeof said["type"] === "string"
      ? [said["type"]]
      : [];
  const properties = Object.entries(fields(said["properties"])).map(([key, value]): [string, SchemaNode] => [
    key,
    readSchema(value),
  ]);
  return {
    type: [...types, ...alternatives.flatMap((alternative) => alternative.type)],
    properties: new Map([...properties, ...alternatives.flatMap((alternative) => [...alternative.properties])]),
    items:
      said["items"] === undefined
        ? (alternatives.find(({ items }) => items !== null)?.items ?? null)
        : readSchema(said["items"]),
  };
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return isMapping(value) ? value : {};
}
