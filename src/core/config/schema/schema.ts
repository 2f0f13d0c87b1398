import { rolePaths } from "../../cluster/exporter/role-paths.ts";
import { balancerSchema } from "./balancer-schema.ts";
import * as z from "zod";
import { guardsSchema } from "./cluster-schema.ts";
import { upstreamSchema, upstreamsMax } from "./follow-schema.ts";
import { poolSchema } from "./pool-schema.ts";
import { poolerSchema } from "./pooler-schema.ts";
import { duration, flag, hostSuffix, integer, list, plainText, section, whenValid } from "./value-schemas.ts";

/** The `ignore_params` list. */
export const ignoreParamsSchema: z.ZodType<readonly string[]> = list(
  plainText("the name of a query parameter", 128),
  64,
).prefault(["be"]);

/** `probe.max_age` where it is not set, in ms. */
export function defaultMaxAgeMs(intervalMs: number, timeoutMs: number): number {
  return 3 * intervalMs + timeoutMs;
}

const connectTimeoutMs = 500;

/** Blames the one of the two that is configured. */
function checkConnectTimeout(
  { connect_timeout: connect, timeout }: { readonly connect_timeout: number; readonly timeout: number },
  context: z.RefinementCtx,
): void {
  if (connect <= timeout) return;
  const issue =
    connect === connectTimeoutMs
      ? { path: ["timeout"], message: `at least probe.connect_timeout (${connect}ms)` }
      : { path: ["connect_timeout"], message: `at most probe.timeout (${timeout}ms)` };
  context.addIssue({ code: "custom", ...issue });
}

/** The `probe` mapping. */
export const probeSchema = z
  .strictObject(
    {
      interval: duration("10ms", "1h").prefault("1s").describe("Time between two probes of a node"),
      connect_timeout: duration("1ms", "1min")
        .prefault(`${connectTimeoutMs}ms`)
        .describe("Time limit of a connection attempt. At most timeout"),
      timeout: duration("1ms", "1min").prefault("2500ms").describe("Time limit of one probe"),
      fall: integer(1, 100).default(3).describe("Failed probes in a row until a node is down"),
      rise: integer(1, 100).default(1).describe("Answered probes in a row until a node that was down is back"),
      max_age: duration("1ms", "1d")
        .optional()
        .describe("Maximum age of evidence for a yes. At least interval + timeout. Default: 3 * interval + timeout"),
      burst_interval: duration("50ms", "10s")
        .prefault("250ms")
        .describe("Time between two probes of a node while the leadership is about to change"),
      cluster_interval: duration("10ms", "1d")
        .prefault("3s")
        .describe("Time between two requests for the cluster document (GET /cluster)"),
      config_interval: duration("10ms", "1d")
        .prefault("30s")
        .describe("Time between two requests for a cluster's dynamic configuration"),
      metrics_interval: duration("10ms", "1d")
        .prefault("3s")
        .describe("Time between two requests for an exporter's metrics"),
    },
    { error: "a mapping with the keys of probe" },
  )
  // Evidence of a node that always answers just in time is up to one interval and one timeout old. It must not be
  // stale.
  .superRefine(
    ({ max_age: maxAge = Infinity, interval, timeout }, context) => {
      const message = `at least probe.interval + probe.timeout (${interval + timeout}ms)`;
      if (maxAge < interval + timeout) context.addIssue({ code: "custom", message, path: ["max_age"] });
    },
    whenValid("interval", "timeout", "max_age"),
  )
  .superRefine(checkConnectTimeout, whenValid("connect_timeout", "timeout"))
  .transform((written) => ({
    intervalMs: written.interval,
    connectTimeoutMs: written.connect_timeout,
    timeoutMs: written.timeout,
    fall: written.fall,
    rise: written.rise,
    maxAgeMs: written.max_age ?? defaultMaxAgeMs(written.interval, written.timeout),
    burstIntervalMs: written.burst_interval,
    clusterIntervalMs: written.cluster_interval,
    configIntervalMs: written.config_interval,
    metricsIntervalMs: written.metrics_interval,
  }));

const levels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
const formats = ["auto", "json", "pretty"] as const;

/** The `log` mapping. */
const logSchema = z.strictObject(
  {
    level: z
      .enum(levels, { error: `one of ${levels.join(", ")}` })
      .default("info")
      .describe("The lowest level that is written"),
    format: z
      .enum(formats, { error: `one of ${formats.join(", ")}` })
      .default("auto")
      .describe(
        "json: one JSON object per line. pretty: lines for people. auto: pretty if stderr is a terminal, else json. " +
          "A change needs a restart",
      ),
  },
  { error: "a mapping with the keys level and format" },
);

/**
 * Paths that the exporter dialect already has, so that none of them can be the telemetry path
 * (docs/exporters.md).
 */
const reservedPaths: ReadonlySet<string> = new Set([
  ...rolePaths.keys(),
  "/reload",
  "/explain",
  "/stat",
  "/version",
  "/livez",
  "/readyz",
]);

const naming = "upstream (patroni_*, pg_*) or neutral (ha_*, db_*)";
const prefix = "a metric name prefix such as pg: letters, digits and _";

/** The `exporter` mapping: the format of the exporter dialect and of the nodes' metrics on admin listeners. */
const exporterSchema = section(
  z
    .strictObject(
      {
        naming: z
          .enum(["upstream", "neutral"], { error: naming })
          .default("upstream")
          .describe(`Vocabulary of metric names: ${naming}`),
        disable_intro: flag()
          .default(false)
          .describe("Whether to omit the metrics up, version and in_recovery, and the exporter_* group"),
        namespace: z
          .string({ error: prefix })
          .regex(/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/, { error: prefix })
          .nullable()
          .default(null)
          .describe(
            "Prefix of the metrics up, version and in_recovery, and of the exporter_* group. Default: pg. If " +
              "naming is neutral: db, but no prefix for the exporter_* group",
          ),
        telemetry_path: telemetryPath()
          .default("/metrics")
          .describe("Path of the metrics on listeners of the exporter dialect"),
      },
      { error: "a mapping with the keys naming, disable_intro, namespace and telemetry_path" },
    )
    .transform(({ disable_intro: disableIntro, telemetry_path, ...rest }) => ({
      ...rest,
      disableIntro,
      telemetryPath: telemetry_path,
    })),
);

function telemetryPath(): z.ZodType<string, string> {
  const error =
    "a path such as /metrics: letters, digits, - _ . and /, and not a path that the exporter API already uses";
  return z
    .string({ error })
    .regex(/^(\/[a-zA-Z0-9_-][a-zA-Z0-9_.-]{0,127}){1,8}$/, { error })
    .refine((path) => !reservedPaths.has(path), { error });
}

/** The `simulator` mapping. */
const simulatorSchema = z
  .strictObject(
    {
      nodes: integer(1, 16).default(3).describe("Number of nodes"),
      port: integer(1, 65_535)
        .default(18_008)
        .describe("Port of the first node on 127.0.0.1. The others have the ports after it"),
    },
    { error: "a mapping with the keys nodes and port" },
  )
  .superRefine(
    ({ nodes, port }, context) => {
      const message = `at most ${65_536 - nodes}, because each node needs a port`;
      if (port + nodes - 1 > 65_535) context.addIssue({ code: "custom", message, path: ["port"] });
    },
    whenValid("nodes", "port"),
  );

/** The key `clusters`. @param cluster the schema of an entry, with the keys of features */
export function clustersKey<T>(cluster: z.ZodType<T>): z.ZodType<readonly T[]> {
  return list(cluster, 1_024)
    .refine((clusters) => clusters.length > 0, { error: "a list of at least one cluster" })
    .describe("The clusters to probe. Default: none, but one is required");
}

/** The key `listen`. @param listener the schema of an entry, with the keys of features */
export function listenKey<T>(listener: z.ZodType<T>): z.ZodType<readonly T[] | null> {
  return z
    .array(listener, { error: "a list of listeners" })
    .min(1, { error: "a list of at least one listener" })
    .max(256, { error: "a list of at most 256 listeners" })
    .nullable()
    .prefault(null)
    .describe(
      "Where rolecall listens. Default: a health listener on 127.0.0.1:8008 and an admin listener on 127.0.0.1:9108",
    );
}

/** The keys of the core at the top of the configuration, but those that features add keys to. */
export const sectionKeys = {
  probe: section(probeSchema).describe("How nodes are probed"),
  pools: list(poolSchema, 1_024).describe(
    "Checks over clusters with a name: what balancers, poolers and agent listeners send clients to (docs/pools.md)",
  ),
  balancers: list(balancerSchema, 64).describe(
    "Balancers that changes of verdicts are sent to at once (docs/reaction-time.md)",
  ),
  poolers: list(poolerSchema, 64).describe(
    "PgBouncers whose clients wait during a planned switchover, and whose databases may follow the verdicts",
  ),
  follow: list(upstreamSchema, upstreamsMax).describe(
    "Admin listeners of other rolecalls whose outcomes are taken, in place of probing, for all clusters (docs/fleet.md)",
  ),
  host_suffixes: list(hostSuffix(), 64).describe("Suffixes of Host headers: {node}.{cluster}{suffix} selects a node"),
  ignore_params: ignoreParamsSchema.describe(
    "Query parameters that checks ignore. Other unknown ones are answered with 400, except on a listener bound " +
      "to one node (listen[].node)",
  ),
  state_file: plainText("the name of a file", 4096)
    .nullable()
    .default(null)
    .describe(
      "File that keeps state across restarts: members, last leaders, refused claims, drains, and detached, stalled and " +
        "diverged replicas; null: none. Default: state.json in $STATE_DIRECTORY or $XDG_STATE_HOME/rolecall, where the " +
        "service can write one of them (docs/operations.md)",
    ),
  drain: duration("0s", "1h")
    .prefault("5s")
    .describe("How long requests are still answered after SIGTERM. Not related to rolecall drain"),
  fast_path: z
    .union([z.boolean(), z.literal("force")], { error: "true, false or force" })
    .default(true)
    .describe(
      "Whether simple checks are answered from cached bytes, without node:http (docs/operations.md). " +
        "true: on the major versions of Node that it was tried with. force: on all versions",
    ),
  workers: z
    .union([integer(0, 64), z.literal("auto")], { error: "a whole number from 0 to 64, or auto" })
    .default("auto")
    .describe(
      "Number of worker processes that answer requests; 0: none, the main process answers. " +
        "auto: one for more than 200 nodes, if there are two processors",
    ),
  guards: section(guardsSchema(null)).describe(
    "The safety rules that can be switched off, and their durations, for all clusters",
  ),
  log: section(logSchema).describe("The log"),
  exporter: exporterSchema.describe("The format of the exporter dialect and of the nodes' metrics on admin listeners"),
  simulator: simulatorSchema
    .nullable()
    .default(null)
    .describe("A simulated cluster to run beside the service, as the demo does. Default: none"),
};

/** What a configuration must be that is no mapping. */
export const wholeError = { error: "a mapping with the keys clusters, listen and so on" };

type CoreWritten = z.output<z.ZodObject<typeof sectionKeys>>;
type SnakeKey = "host_suffixes" | "ignore_params" | "state_file" | "drain" | "fast_path";

/** Gives the keys of the core their names in the program. Those of features are named by their own schemas. */
export function inCamelCase<Written extends CoreWritten>({
  host_suffixes: hostSuffixes,
  ignore_params: ignoreParams,
  state_file: stateFile,
  drain: drainMs,
  fast_path: fastPath,
  ...sections
}: Written): Omit<Written, SnakeKey> & {
  readonly hostSuffixes: Written["host_suffixes"];
  readonly ignoreParams: Written["ignore_params"];
  readonly stateFile: Written["state_file"];
  readonly drainMs: Written["drain"];
  readonly fastPath: Written["fast_path"];
} {
  return { ...sections, hostSuffixes, ignoreParams, stateFile, drainMs, fastPath };
}

/** The keys of {@link sectionKeys} with their names in the program: what depends on no other key is filled in. */
export type CoreSections = ReturnType<typeof inCamelCase<CoreWritten>>;
