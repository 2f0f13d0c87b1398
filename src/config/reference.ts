import { configJsonSchema } from "./schema/json-schema.ts";
import { isMapping } from "./model/issue.ts";
import { variables } from "./sources/environment.ts";

/** The configuration's reference as Markdown, from the schema the parser uses. This is docs/configuration.md. */
export function configReference(): string {
  const rows = rowsOf(configJsonSchema(), "");
  return [
    "# Configuration reference",
    "",
    "Written by `npm run schema` from the schema that the parser uses; a test keeps it true. An unknown key is an error, and every problem",
    "is told at once with its line. `rolecall serve --config FILE`; a flag wins over the environment, which wins over the file.",
    "Durations carry a unit (`500ms`, `2s`, `1min`, `1h`). `[]` stands for each element of a list.",
    "",
    "| key | type | default | meaning |",
    "|---|---|---|---|",
    ...rows.map(({ path, type, fallback, meaning }) => `| \`${path}\` | ${type} | ${fallback} | ${meaning} |`),
    "",
    "## Environment",
    "",
    "Every value outside lists has a variable, and lists of texts take commas. `ROLECALL_LISTEN=host:port[,…]` replaces `listen`. An unknown",
    "`ROLECALL_*` is an error.",
    "",
    ...variables.map((variable) => `- \`${variable}\``),
    "",
  ].join("\n");
}

interface Row {
  readonly path: string;
  readonly type: string;
  readonly fallback: string;
  readonly meaning: string;
}

function rowsOf(schema: unknown, path: string): readonly Row[] {
  if (!isMapping(schema)) return [];
  const alternatives = Array.isArray(schema["anyOf"]) ? schema["anyOf"].filter(isMapping) : [];
  const own = path === "" || typeof schema["description"] !== "string" ? [] : [rowOf(schema, path)];
  const properties = isMapping(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  return [
    ...own,
    ...properties.flatMap(([key, value]) => rowsOf(value, path === "" ? key : `${path}.${key}`)),
    ...(schema["items"] === undefined ? [] : rowsOf(schema["items"], `${path}[]`)),
    ...alternatives.flatMap((alternative) => rowsOf({ ...alternative, description: undefined }, path)),
  ];
}

function rowOf(schema: Readonly<Record<string, unknown>>, path: string): Row {
  const described = String(schema["description"]);
  const said = /\.? Default: (.+)$/.exec(described);
  const fallback = said?.[1] ?? defaultOf(schema["default"]);
  return {
    path,
    type: typesOf(schema).join(" or "),
    fallback: escape(fallback),
    meaning: escape(described.replace(/\.? Default: .+$/, "")),
  };
}

function defaultOf(value: unknown): string {
  if (value === undefined) return "";
  return value === null ? "none" : `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

function typesOf(schema: Readonly<Record<string, unknown>>): readonly string[] {
  const alternatives = Array.isArray(schema["anyOf"]) ? schema["anyOf"].filter(isMapping).flatMap(typesOf) : [];
  const own = typeof schema["type"] === "string" ? [schema["type"]] : [];
  const names = [...own, ...alternatives]
    .filter((type) => type !== "null")
    .map((type) => (type === "array" ? "list" : type === "object" ? "mapping" : type));
  return [...new Set(names)];
}

function escape(text: string): string {
  return text.replaceAll("|", "\\|");
}
