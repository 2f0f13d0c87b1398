import { configJsonSchema, readSchema } from "../schema/json-schema.js";
const schema = readSchema(configJsonSchema());
/** All keys that can be overridden, in the order of the schema. */
export const overrideKeys = [...keysUnder(schema, [])];
/** Returns the keys allowed in the mapping at `path`; none if there is no such mapping. */
export function keysAt(path) {
    let current = schema;
    for (const step of path)
        current = typeof step === "number" ? current?.items : current?.properties.get(step);
    return [...(current?.properties.keys() ?? [])];
}
function* keysUnder(mapping, above) {
    for (const [key, node] of mapping.properties) {
        const path = [...above, key];
        const kind = kindOf(node);
        if (node.properties.size > 0)
            yield* keysUnder(node, path);
        else if (kind !== null)
            yield { path, variable: `ROLECALL_${path.join("_").toUpperCase()}`, kind, nullable: node.type.includes("null") };
    }
}
function kindOf({ type, items }) {
    if (type.includes("array"))
        return items?.type.includes("string") === true ? "list" : null;
    if (type.includes("boolean"))
        return "boolean";
    if (type.includes("integer") || type.includes("number"))
        return "number";
    return "text";
}
//# sourceMappingURL=override-keys.js.map