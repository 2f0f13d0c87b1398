import type { SchemaNode } from "../../src/core/config/schema/json-schema.ts";

/** Every key of a schema as a path, such as `listen[].limits.body`. `[]` stands for each element of a list. */
export function keyPaths({ properties, items }: SchemaNode, above = ""): readonly string[] {
  const inner = [...properties].flatMap(([key, node]) => {
    const path = above === "" ? key : `${above}.${key}`;
    return [path, ...keyPaths(node, path)];
  });
  return items === null ? inner : [...inner, ...keyPaths(items, `${above}[]`)];
}
