import * as z from "zod";
import type { DialectName, ListenerDialect } from "../values/listener-dialect.ts";
import { parameterNames } from "../../health/check.ts";
import { checkTextParts, parseCheckText } from "../values/check-text.ts";
import { listenerAccessFields } from "./listener-access-schema.ts";
import { flag, integer, listenAddress, name, parsedText } from "./value-schemas.ts";
import { weightSchema } from "./weight-schema.ts";

const defaultsAllowed = `a mapping of a check's parameters to values: ${parameterNames()
  .filter((parameter) => parameter !== "for")
  .join(", ")}, tag_<name>`;

/** Default parameters of checks, as a mapping; the result is the equivalent query. */
export function checkDefaults(): z.ZodType<string> {
  return z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()], { error: "a text, a number or a boolean" }), {
      error: defaultsAllowed,
    })
    .transform((parameters, context) => {
      const query = new URLSearchParams(
        Object.entries(parameters).map(([key, value]): [string, string] => [key, String(value)]),
      ).toString();
      for (const [key, value] of Object.entries(parameters)) {
        const one = new URLSearchParams([[key, String(value)]]).toString();
        const read = parseCheckText(`/replica?${one}`, { ignoreParams: [], intervalMs: 0 });
        if (!read.ok) context.addIssue({ code: "custom", path: [key], message: read.problem.allowed });
      }
      return query;
    });
}

/** A check, as `/replica?lag=1MB`. */
const checkSchema = parsedText({
  allowed: "a check such as /replica?lag=1MB: a route and its parameters",
  pattern: /^\/[^?\s]*(\?\S*)?$/,
  parse: (text) => {
    const parsed = parseCheckText(text, { ignoreParams: [], intervalMs: 0 });
    return parsed.ok ? { route: parsed.check.route, query: checkTextParts(text).query } : undefined;
  },
});

const defaultAgentCheck = { route: "replica", query: "" } as const;

/** The keys that only listeners with the dialect agent have. */
const agentFields = {
  pool: name()
    .nullable()
    .default(null)
    .describe("Dialect agent: name of an entry of pools, in place of cluster, check and weight"),
  check: checkSchema
    .nullable()
    .default(null)
    .describe(
      "Dialect agent: the check for an agent request (HAProxy's agent-send) that names only a node. Default: /replica",
    ),
  weight: weightSchema
    .nullable()
    .default(null)
    .describe("Dialect agent: how the weight of a fit server follows its lag and its warm-up. Default: 100%"),
  drain_by: z
    .enum(["weight", "state"], { error: "weight or state" })
    .default("weight")
    .describe(
      "Dialect agent: how a soft no (docs/reasons.md) drains a server. weight: by a weight of 0%. state: by " +
        "HAProxy's administrative state drain, with the disadvantages that docs/haproxy.md lists",
    ),
};

/** The default port of exporters (seeds/exporter-api.md, "Limits"). */
const exporterPort = 9630;

const clusterOrAll = z.union([z.literal("*"), name()], { error: "the name of a cluster, or * for all of them" });

/** What a listener must be that is no mapping. */
export const listenerError = { error: "a mapping with the keys of a listener, at least port" };

/** The dialects of the core, in the order of the references. */
const coreDialects = ["node", "admin", "exporter", "agent"] as const;

/**
 * The keys of the core in each entry of `listen`.
 * @param dialects those of features
 */
export function listenerKeys(dialects: readonly ListenerDialect[]) {
  const names: readonly DialectName[] = [...coreDialects, ...dialects.map(({ name: dialect }) => dialect)];
  const ofFeatures = dialects.map(({ name: dialect, meaning }) => `. ${dialect}: ${meaning}`).join("");
  return {
    address: listenAddress().prefault("127.0.0.1").describe("Address to listen on"),
    port: integer(0, 65_535)
      .optional()
      .describe("Port to listen on. 0 is any free port. Default with the dialect exporter: 9630"),
    dialect: z
      .enum(names, { error: `one of ${names.join(", ")}` })
      .default("node")
      .describe(
        "node: the nodes' own API (a health listener). exporter: the API of a database exporter. " +
          "admin: /metrics, /status, /events, /explain, /incident, /drains, /hint, /livez, /readyz. " +
          `agent: HAProxy's agent checks${ofFeatures}`,
      ),
    cluster: clusterOrAll
      .nullable()
      .default(null)
      .describe("Cluster that the listener answers for, or * for all. Default: all clusters"),
    node: name()
      .nullable()
      .default(null)
      .describe("Node that the listener answers for, as a drop-in for that node's own API"),
    whole_cluster: flag().default(false).describe("Whether a route that names no node checks the whole cluster"),
    operator_pages: flag()
      .default(false)
      .describe(
        "Whether a health listener serves /status, /events, /explain, /verdicts and /incident, as admin listeners do",
      ),
    ...listenerAccessFields,
    defaults: checkDefaults().prefault({}).describe("Default parameters of checks, such as miss: 404"),
    ...agentFields,
  };
}

/** The keys of the core in an entry of `listen`, each checked alone. */
export type WrittenListener = z.output<z.ZodObject<ReturnType<typeof listenerKeys>>>;

/** Gives the keys of the core their names in the program. */
export function completeListener(written: WrittenListener) {
  // The other dialects have no default port: checkListeners rejects a listener without one.
  const { address, port = exporterPort, dialect, cluster, node, defaults } = written;
  const { management, read_only: readOnly, tls, auth, hint_tokens: hintTokens, pause_tokens: pauseTokens } = written;
  const { before_stop_tokens: beforeStopTokens, followers, proxy_protocol: proxyProtocol, limits } = written;
  const { allow, allow_for: allowFor, trusted_origins: trustedOrigins } = written;
  const lists = { allow, allowFor, proxyProtocol, trustedOrigins };
  const tokens = { hintTokens, pauseTokens, beforeStopTokens, followers };
  const { pool, check, weight, drain_by: drainBy } = written;
  return {
    address,
    port,
    dialect,
    cluster,
    node,
    wholeCluster: written.whole_cluster,
    operatorPages: written.operator_pages,
    access: { management, readOnly, tls, auth, ...tokens, ...lists, limits },
    defaults,
    agent: dialect === "agent" ? { pool, check: check ?? defaultAgentCheck, weight, drainBy } : null,
  };
}
