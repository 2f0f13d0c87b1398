import { isObject } from "../cluster/values/json.ts";

/**
 * Returns the configuration reference as Markdown, generated from the schema. `npm run schema` writes it to
 * docs/configuration.md.
 */
export function configReferenceOf(jsonSchema: Readonly<Record<string, unknown>>): string {
  const rows = rowsOf(jsonSchema, "");
  return [
    "# Configuration reference",
    "",
    "Every key of the configuration file, with its default. The smallest file that works names one node of a cluster, and",
    "rolecall finds the others; [several clusters, with TLS](#several-clusters-with-tls) need more:",
    "",
    "```yaml",
    'clusters: [{ name: main, discover: ["http://10.0.0.1:8008"] }]',
    "```",
    "",
    "A flag overrides the environment, which overrides the file. An unknown key is an error. A duration needs a unit (`500ms`,",
    "`2s`, `1min`, `1h`, `30d`). Certificates, keys, passwords and tokens are read again when their files change. `[]` in a key",
    "stands for each element of a list. A key without a type is a text, or has the keys below it. Lists and keys with keys",
    "below them are empty or absent by default, unless they are required; other keys without a default are required.",
    "",
    "| key | type | default | meaning |",
    "|---|---|---|---|",
    ...rows.map(({ path, type, fallback, meaning }) => `| \`${path}\` | ${type} | ${fallback} | ${meaning} |`),
    "",
    "## Environment",
    "",
    "Every value has a variable, except lists of mappings and the values inside them: the key in upper case, with",
    "`ROLECALL_` before it and `_` in place of each dot (`ROLECALL_PROBE_MAX_AGE`). Commas separate the elements of a list.",
    "Four more are short forms:",
    "",
    "* `ROLECALL_LISTEN=host:port[,…]` replaces `listen` by health listeners.",
    "* `ROLECALL_DISCOVER=URL[,…]` replaces `clusters` by one cluster with these seeds, `ROLECALL_CLUSTER` names it, and",
    "  `ROLECALL_NODE_CA=FILE` is its `tls.ca`.",
    "",
    "An unknown `ROLECALL_*` variable is an error. A service ignores those of [commands](cli.md#servers-and-contexts).",
    "",
    clustersGuide,
  ].join("\n");
}

/** How to write the most usual file: more than one cluster, and TLS to the nodes. */
const clustersGuide = `## Several clusters, with TLS

[config/examples/three-clusters.yaml](../config/examples/three-clusters.yaml) is an example to copy.

* Of \`tls\`, \`cert\` and \`key\` are for nodes with \`verify_client\`. With \`verify: chain\` every server with a certificate
  of that CA counts as a node, so give the nodes a CA of their own. File names are relative to the folder of the
  configuration.
* Set \`database\` if checks send a database address, with HAProxy's \`send-state\` or the parameter \`db=\`: rolecall then
  refuses another one as [\`moved\`](reasons.md#moved).
* A listener with \`cluster: "*"\` needs the cluster [in the request](checks.md#how-a-request-selects-a-node).

\`rolecall doctor --offline\` reads the file only. \`rolecall doctor\` also probes every node, and checks certificates and clocks.
`;

/** Mappings that have the keys of another one. The table lists these keys there only. */
const sameKeys: ReadonlyMap<string, string> = new Map([
  ["clusters[].guards", "guards"],
  ["clusters[].follow[].tls", "clusters[].tls"],
  ["follow[]", "clusters[].follow[]"],
  ["clusters[].dcs.tls", "clusters[].tls"],
  ["clusters[].dcs.auth", "clusters[].auth"],
  ["poolers[].pgbouncer.tls", "clusters[].tls"],
  ["clusters[].canaries[].tls", "clusters[].tls"],
  ["peers[].tls", "clusters[].tls"],
  ["fleet.tls", "clusters[].tls"],
  ["fleet.etcd.tls", "clusters[].tls"],
  ["fleet.etcd.auth", "clusters[].auth"],
  ["pools[].weight", "listen[].weight"],
  ["balancers[].haproxy.backends[].weight", "listen[].weight"],
]);

interface Row {
  readonly path: string;
  readonly type: string;
  readonly fallback: string;
  readonly meaning: string;
}

function rowsOf(schema: unknown, path: string, isRequired = false): readonly Row[] {
  if (!isObject(schema)) return [];
  const alternatives = Array.isArray(schema["anyOf"]) ? schema["anyOf"].filter(isObject) : [];
  const own = path === "" || typeof schema["description"] !== "string" ? [] : [rowOf(schema, path, isRequired)];
  const other = sameKeys.get(path);
  if (other !== undefined) return own.map((row) => ({ ...row, meaning: `${row.meaning}. As \`${other}\`` }));
  const properties = isObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  return [
    ...own,
    ...properties.flatMap(([key, value]) =>
      rowsOf(value, path === "" ? key : `${path}.${key}`, required.includes(key)),
    ),
    ...(schema["items"] === undefined ? [] : rowsOf(schema["items"], `${path}[]`)),
    ...alternatives.flatMap((alternative) => rowsOf({ ...alternative, description: undefined }, path)),
  ];
}

function rowOf(schema: Readonly<Record<string, unknown>>, path: string, isRequired: boolean): Row {
  const described = String(schema["description"]);
  const withDefault = /\.? Default: (.+)$/.exec(described);
  const fallback = withDefault?.[1] ?? defaultOf(schema["default"]);
  const type = typesOf(schema).join(" or ");
  const isGroup = type === "list" || type === "mapping";
  return {
    path,
    // Most values are texts, and a mapping shows by the keys below it.
    type: type.replace(/^(?:string|mapping)$/, ""),
    fallback: isGroup && isRequired ? "required" : isGroup && fallback === "none" ? "" : escape(fallback),
    meaning: escape(described.replace(/\.? Default: .+$/, "")),
  };
}

function defaultOf(value: unknown): string {
  if (value === undefined) return "";
  if (value === null) return "none";
  if (typeof value === "object" && Object.keys(value).length === 0) return "";
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

function typesOf(schema: Readonly<Record<string, unknown>>): readonly string[] {
  const alternatives = Array.isArray(schema["anyOf"]) ? schema["anyOf"].filter(isObject).flatMap(typesOf) : [];
  const own = typeof schema["type"] === "string" ? [schema["type"]] : [];
  const names = [...own, ...alternatives]
    .filter((type) => type !== "null")
    .map((type) => (type === "array" ? "list" : type === "object" ? "mapping" : type));
  return [...new Set(names)];
}

function escape(text: string): string {
  return text.replaceAll("|", "\\|");
}
