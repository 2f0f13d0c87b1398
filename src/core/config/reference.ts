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
    "rolecall finds the others; [two clusters, with TLS](#two-clusters-with-tls) need more:",
    "",
    "```yaml",
    'clusters: [{ name: main, discover: ["http://10.0.0.1:8008"] }]',
    "```",
    "",
    "`npm run schema` generates this page. A flag overrides the environment, which overrides the file. An unknown key is an",
    "error. All errors are reported at once with their lines. A duration needs a unit (`500ms`, `2s`, `1min`, `1h`, `30d`);",
    "options of commands also accept `m` for minutes. Certificates, keys, passwords and tokens are read again when their files",
    "change. In a key, `[]` stands for each element of a list. A key without a type is a text.",
    "",
    "| key | type | default | meaning |",
    "|---|---|---|---|",
    ...rows.map(({ path, type, fallback, meaning }) => `| \`${path}\` | ${type} | ${fallback} | ${meaning} |`),
    "",
    "## Environment",
    "",
    "Every value has a variable, except lists of mappings and the values inside them: the key in upper case, with",
    "`ROLECALL_` before it and `_` in place of each dot (`ROLECALL_PROBE_MAX_AGE`). Separate the elements of a list of",
    "strings by commas. Four more variables are short forms:",
    "",
    "* `ROLECALL_LISTEN=host:port[,…]` replaces `listen` by health listeners.",
    "* `ROLECALL_DISCOVER=URL[,…]` replaces `clusters` by one cluster with these seeds.",
    "* `ROLECALL_NODE_CA=FILE` is the `tls.ca` of that cluster.",
    "* `ROLECALL_CLUSTER` sets the name of that cluster.",
    "",
    "An unknown `ROLECALL_*` variable is an error. A service ignores `ROLECALL_SERVER` and the other variables of",
    "[commands](cli.md#servers-and-contexts).",
    "",
    clustersGuide,
  ].join("\n");
}

/** How to write the most usual file: more than one cluster, and TLS to the nodes. */
const clustersGuide = `## Two clusters, with TLS

[config/examples/three-clusters.yaml](../config/examples/three-clusters.yaml) is a larger example.

\`\`\`yaml
clusters:
  - name: orders # in paths, logs and metrics
    scope: orders-prod # what the nodes report; by default the name
    nodes: # a fixed list
      - { name: orders-1, api: "https://10.1.0.1:8008", database: "10.1.0.1:5432" }
      - { name: orders-2, api: "https://10.1.0.2:8008", database: "10.1.0.2:5432" }
    tls: { ca: tls/ca.pem, cert: tls/edge.pem, key: tls/edge.key, server_name: db.internal }
  - name: billing
    discover: ["https://10.2.0.1:8008", "https://10.2.0.2:8008"] # finds the other members, and follows changes
    tls: { ca: tls/ca.pem }
listen:
  - { address: 0.0.0.0, port: 8008, cluster: "*" } # /clusters/orders/nodes/orders-1/primary
  - { address: 0.0.0.0, port: 8101, cluster: orders } # /nodes/orders-1/primary
  - { address: 0.0.0.0, port: 8202, cluster: orders, node: orders-2 } # /replica, like the node's own API
  - { port: 9108, dialect: admin } # on loopback
\`\`\`

* Of \`tls\`, \`cert\` and \`key\` are for nodes with \`verify_client\`. With \`verify: chain\` every server with a certificate
  of that CA counts as a node, so give the nodes a CA of their own. File names are relative to the folder of the
  configuration.
* Set \`database\` if checks send a database address, with HAProxy's \`send-state\` or the parameter \`db=\`: rolecall then
  refuses another one as [\`moved\`](reasons.md#moved).
* A listener with \`cluster: "*"\` needs the cluster in the request, unless only one is configured
  ([how a request selects a node](checks.md#how-a-request-selects-a-node)).

\`rolecall doctor --offline\` reads the file only. \`rolecall doctor\` also probes every node once, and checks certificates and
clocks.
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

function rowsOf(schema: unknown, path: string): readonly Row[] {
  if (!isObject(schema)) return [];
  const alternatives = Array.isArray(schema["anyOf"]) ? schema["anyOf"].filter(isObject) : [];
  const own = path === "" || typeof schema["description"] !== "string" ? [] : [rowOf(schema, path)];
  const other = sameKeys.get(path);
  if (other !== undefined)
    return own.map((row) => ({ ...row, meaning: `${row.meaning}. Keys: those of \`${other}\`` }));
  const properties = isObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  return [
    ...own,
    ...properties.flatMap(([key, value]) => rowsOf(value, path === "" ? key : `${path}.${key}`)),
    ...(schema["items"] === undefined ? [] : rowsOf(schema["items"], `${path}[]`)),
    ...alternatives.flatMap((alternative) => rowsOf({ ...alternative, description: undefined }, path)),
  ];
}

function rowOf(schema: Readonly<Record<string, unknown>>, path: string): Row {
  const described = String(schema["description"]);
  const withDefault = /\.? Default: (.+)$/.exec(described);
  const fallback = withDefault?.[1] ?? defaultOf(schema["default"]);
  return {
    path,
    // Most values are texts.
    type: typesOf(schema)
      .join(" or ")
      .replace(/^string$/, ""),
    fallback: escape(fallback),
    meaning: escape(described.replace(/\.? Default: .+$/, "")),
  };
}

function defaultOf(value: unknown): string {
  if (value === undefined) return "";
  return value === null ? "none" : `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
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
