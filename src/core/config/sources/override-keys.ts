import { readSchema, type SchemaNode } from "../schema/json-schema.ts";
import type { ConfigPath } from "../model/issue.ts";
import { type RemovedKey, removedKeys } from "./removed-keys.ts";

/**
 * A key that an environment variable or `--set` can override: any outside lists. A list of texts counts as one value.
 */
export interface OverrideKey {
  readonly path: readonly string[];
  /** `ROLECALL_PROBE_INTERVAL` for `probe.interval`. */
  readonly variable: string;
  readonly kind: "text" | "number" | "boolean" | "list";
  readonly nullable: boolean;
}

/** A removed key that a variable or `--set` could override. */
export interface RemovedOverride {
  readonly row: RemovedKey;
  readonly variable: string;
  /** The key of today that takes its value, or `null`. */
  readonly taker: OverrideKey | null;
}

/** The keys of a configuration, by its schema. */
export class ConfigKeys {
  readonly #jsonSchema: () => Readonly<Record<string, unknown>>;
  #tree: SchemaNode | null = null;
  #overrides: readonly OverrideKey[] | null = null;

  /** @param jsonSchema the JSON schema of the configuration file */
  constructor(jsonSchema: () => Readonly<Record<string, unknown>>) {
    this.#jsonSchema = jsonSchema;
  }

  /** All keys that can be overridden, in the order of the schema. */
  get overrides(): readonly OverrideKey[] {
    this.#overrides ??= [...keysUnder(this.#schema(), [])];
    return this.#overrides;
  }

  /** The removed keys outside lists. */
  get removed(): readonly RemovedOverride[] {
    return removedKeys
      .filter(({ path }) => !path.includes("[]"))
      .map((row) => {
        const renamed = [...row.path.split(".").slice(0, -1), row.renamed].join(".");
        const taker = this.overrides.find(({ path }) => path.join(".") === renamed) ?? null;
        return { row, variable: variableOf(row.path.split(".")), taker: row.renamed === null ? null : taker };
      });
  }

  /** Returns the keys allowed in the mapping at `path`; none if there is no such mapping. */
  at(path: ConfigPath): readonly string[] {
    let current: SchemaNode | null | undefined = this.#schema();
    for (const step of path) current = typeof step === "number" ? current?.items : current?.properties.get(step);
    return [...(current?.properties.keys() ?? [])];
  }

  /** Made on first use: it takes a tenth of the start, and a configuration without overrides and mistakes needs none. */
  #schema(): SchemaNode {
    this.#tree ??= readSchema(this.#jsonSchema());
    return this.#tree;
  }
}

function* keysUnder(mapping: SchemaNode, above: readonly string[]): Generator<OverrideKey> {
  for (const [key, node] of mapping.properties) {
    const path = [...above, key];
    const kind = kindOf(node);
    if (node.properties.size > 0) yield* keysUnder(node, path);
    else if (kind !== null) yield { path, variable: variableOf(path), kind, nullable: node.type.includes("null") };
  }
}

function variableOf(path: readonly string[]): string {
  return `ROLECALL_${path.join("_").toUpperCase()}`;
}

function kindOf({ type, items }: SchemaNode): OverrideKey["kind"] | null {
  if (type.includes("array")) return items?.type.includes("string") === true ? "list" : null;
  if (type.includes("boolean")) return "boolean";
  if (type.includes("integer") || type.includes("number")) return "number";
  return "text";
}
