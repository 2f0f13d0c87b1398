import * as z from "zod";
import { flag, section } from "./value-schemas.ts";

/**
 * Paths that the exporter dialect already has, so that none of them can be the telemetry path
 * (docs/exporters.md).
 */
const reservedPaths: ReadonlySet<string> = new Set(
  [
    "/up /read /health /liveness /readiness /primary /leader /master /read-write /rw /replica /standby /slave",
    "/read-only /ro /reload /explain /stat /version /livez /readyz",
  ].flatMap((names) => names.split(" ")),
);

const naming = "upstream (patroni_*, pg_*) or neutral (ha_*, db_*)";
const prefix = "a metric name prefix such as pg: letters, digits and _";

/** The `exporter` mapping: the format of the exporter dialect and of the nodes' metrics on admin listeners. */
export const exporterSchema = section(
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
