import * as z from "zod";
import { isMapping } from "../model/issue.js";
import { configSchema } from "./schema.js";
/**
 * Returns the JSON schema (draft 2020-12) of the configuration file. `npm run schema` writes it to
 * config/schema.json.
 */
export function configJsonSchema() {
    return { title: "rolecall configuration", ...z.toJSONSchema(configSchema, { io: "input" }) };
}
/** Reads the JSON schema as a tree. Alternatives (a mapping or null) become one node with both types. */
export function readSchema(schema) {
    const node = fields(schema);
    const alternatives = Array.isArray(node["anyOf"]) ? node["anyOf"].map(readSchema) : [];
    const types = Array.isArray(node["type"])
        ? node["type"].map(String)
        : typeof node["type"] === "string"
            ? [node["type"]]
            : [];
    const properties = Object.entries(fields(node["properties"])).map(([key, value]) => [
        key,
        readSchema(value),
    ]);
    return {
        type: [...types, ...alternatives.flatMap((alternative) => alternative.type)],
        properties: new Map([...properties, ...alternatives.flatMap((alternative) => [...alternative.properties])]),
        items: node["items"] === undefined
            ? (alternatives.find(({ items }) => items !== null)?.items ?? null)
            : readSchema(node["items"]),
    };
}
function fields(value) {
    return isMapping(value) ? value : {};
}
//# sourceMappingURL=json-schema.js.map