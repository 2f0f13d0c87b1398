import { checkDefaults } from "./check-defaults.ts";
import * as z from "zod";
import { clusterSchema, type ClusterShape, guardsSchema, type GuardsShape } from "./cluster-schema.ts";
import type { Config, ListenerConfig, LogConfig, ProbeConfig, SimulatorConfig } from "../model/config.ts";
import { listenerAccessFields } from "./listener-access-schema.ts";
import { exporterSchema } from "./exporter-schema.ts";
import { duration, flag, hostSuffix, integer, list, listenAddress, name, section, plainText } from "./value-schemas.ts";

/** What the configuration says, value by value: names that are ours, milliseconds, defaults that need no context. */
export interface ConfigShape extends Omit<Config, "clusters" | "listen"> {
  readonly clusters: readonly ClusterShape[];
  /** `null` where the key was left out. A listener's cluster may be `*`, or `null` where left out. */
  readonly listen: readonly ListenerConfig[] | null;
  readonly guards: GuardsShape;
}

/** The one source of the parser, of config/schema.json, and of the names of environment variables and `--set` paths. */
export const configSchema: z.ZodType<ConfigShape> = z
  .strictObject(
    {
      clusters: list(clusterSchema(), 256).describe("The clusters to watch, at least one"),
      probe: section(probeSchema()).describe("How nodes are asked"),
      listen: z
        .array(listenerSchema(), { error: "a list of listeners" })
        .min(1, { error: "a list of at least one listener" })
        .max(256, { error: "a list of at most 256 listeners" })
        .nullable()
        .prefault(null)
        .describe(
          "Where rolecall listens. Default: a node listener on 127.0.0.1:8008 and an admin listener on 127.0.0.1:9108",
        ),
      host_suffixes: list(hostSuffix(), 64).describe(
        "Host header suffixes under which {node}.{cluster}{suffix} names a node",
      ),
      ignore_params: list(plainText("the name of a query parameter", 128), 64)
        .prefault(["be"])
        .describe("Query parameters that say nothing"),
      state_file: plainText("the name of a file", 4096)
        .nullable()
        .default(null)
        .describe(
          "File that keeps over a restart: discovered members, in case every seed is down; the last accepted leaders; detached, stalled and diverged replicas; drains",
        ),
      drain: duration("0s", "1h").prefault("5s").describe("How long answers go on after SIGTERM"),
      fast_path: z
        .union([z.boolean(), z.literal("force")], { error: "true, false or force" })
        .default(true)
        .describe(
          "Whether simple checks are answered from cached bytes, without node:http (docs/fast-path.md). true: on the Node versions it was tried on. force: on others too",
        ),
      workers: z
        .union([integer(0, 64), z.literal("auto")], { error: "a whole number from 0 to 64, or auto" })
        .default(0)
        .describe(
          "Processes that answer beside the one that probes (0: it answers itself); auto: one for each further processor, at most 4",
        ),
      guards: section(guardsSchema()).describe(
        "The safety rules that can be switched off, and their spans, for all clusters",
      ),
      log: section(logSchema()).describe("What is written to the log"),
      exporter: exporterSchema().describe(
        "What the exporter dialect, and the nodes' metrics on admin listeners, look like",
      ),
      simulator: simulatorSchema()
        .nullable()
        .default(null)
        .describe("A simulated cluster to run inside this process. Default: none"),
    },
    { error: "a mapping with the keys clusters, listen and so on" },
  )
  .transform(
    ({
      host_suffixes: hostSuffixes,
      ignore_params: ignoreParams,
      state_file: stateFile,
      drain: drainMs,
      fast_path: fastPath,
      ...sections
    }) => ({
      ...sections,
      hostSuffixes,
      ignoreParams,
      stateFile,
      drainMs,
      fastPath,
    }),
  );

/** The `probe` mapping. */
export function probeSchema(): z.ZodType<ProbeConfig> {
  return z
    .strictObject(
      {
        interval: duration("10ms", "1h").prefault("1s").describe("How often each node is asked"),
        connect_timeout: duration("1ms", "1min")
          .prefault("500ms")
          .describe("How long a connection may take. At most timeout"),
        timeout: duration("1ms", "1min").prefault("2500ms").describe("How long one probe may take"),
        fall: integer(1, 100).default(3).describe("Failed probes in a row until a node is down"),
        rise: integer(1, 100).default(1).describe("Answered probes in a row until it is back"),
        max_age: duration("1ms", "1d")
          .optional()
          .describe("How old evidence for a yes may be. At least interval + timeout. Default: 3 * interval + timeout"),
        cluster_interval: duration("10ms", "1d")
          .prefault("3s")
          .describe("How often each cluster document is asked for"),
        config_interval: duration("10ms", "1d")
          .prefault("30s")
          .describe("How often each cluster's dynamic configuration is asked for"),
        metrics_interval: duration("10ms", "1d")
          .prefault("3s")
          .describe("How often an exporter is asked for a page of metrics"),
      },
      { error: "a mapping with the keys of probe" },
    )
    .transform((said) => ({
      intervalMs: said.interval,
      connectTimeoutMs: said.connect_timeout,
      timeoutMs: said.timeout,
      fall: said.fall,
      rise: said.rise,
      maxAgeMs: said.max_age ?? 3 * said.interval + said.timeout,
      clusterIntervalMs: said.cluster_interval,
      configIntervalMs: said.config_interval,
      metricsIntervalMs: said.metrics_interval,
    }));
}

/** Where exporters listen (seeds/exporter-api.md, "Limits"). */
const exporterPort = 9630;

function listenerSchema(): z.ZodType<ListenerConfig> {
  const cluster = z.union([z.literal("*"), name()], { error: "the name of a cluster, or * for all of them" });
  return (
    z
      .strictObject(
        {
          address: listenAddress().prefault("127.0.0.1").describe("Address to listen on"),
          port: integer(0, 65_535)
            .optional()
            .describe("Port to listen on. 0 is any free port. Default with the dialect exporter: 9630"),
          dialect: z
            .enum(["node", "admin", "exporter"], { error: "one of node, admin, exporter" })
            .default("node")
            .describe(
              "node: the nodes' own API. exporter: that of a database's exporter. admin: /metrics, /status, /explain, /incident, /drains, /livez, /readyz",
            ),
          cluster: cluster
            .nullable()
            .default(null)
            .describe("Cluster it speaks for, or * for all. Default: the only one, else all"),
          node: name().nullable().default(null).describe("Node it speaks for, as a drop-in for that node's own API"),
          whole_cluster: flag().default(false).describe("A route that names no node asks for the whole cluster"),
          operator_pages: flag()
            .default(false)
            .describe(
              "Serves /status, /explain, /verdicts and /incident on this listener too. Admin listeners always serve them",
            ),
          ...listenerAccessFields(),
          defaults: checkDefaults()
            .prefault({})
            .describe("Parameters of checks that do not give them, such as miss: 404"),
        },
        { error: "a mapping with the keys of a listener: port at least" },
      )
      // Other dialects have no port of their own: checkListeners refuses them without one.
      .transform(
        ({
          whole_cluster: wholeCluster,
          operator_pages: operatorPages,
          port = exporterPort,
          management,
          tls,
          auth,
          allow,
          allow_for: allowFor,
          trusted_origins: trustedOrigins,
          limits,
          ...listener
        }) => ({
          ...listener,
          port,
          wholeCluster,
          operatorPages,
          access: { management, tls, auth, allow, allowFor, trustedOrigins, limits },
        }),
      )
  );
}

function logSchema(): z.ZodType<LogConfig> {
  const levels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
  const level = z.enum(levels, { error: `one of ${levels.join(", ")}` });
  return z.strictObject(
    { level: level.default("info").describe("The least severe level written") },
    { error: "a mapping with the key level" },
  );
}

/** The `simulator` mapping. */
export function simulatorSchema(): z.ZodType<SimulatorConfig> {
  return z.strictObject(
    {
      nodes: integer(1, 16).default(3).describe("How many nodes it has"),
      port: integer(1, 65_535).default(18_008).describe("Port of the first node on 127.0.0.1. The others follow"),
    },
    { error: "a mapping of nodes and port" },
  );
}
