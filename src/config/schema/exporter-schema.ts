import * as z from "zod";
import type { ExporterConfig } from "../model/config.ts";
import { flag, section } from "./value-schemas.ts";

/** Paths of the exporter dialect that a telemetry path cannot be (seeds/exporter-api.md, "Endpoints"). */
const taken: ReadonlySet<string> = new Set(
  [
    "/up /read /health /liveness /readiness /primary /leader /master /read-write /rw /replica /standby /slave",
    "/read-only /ro /reload /explain /stat /version /livez /readyz",
  ].flatMap((names) => names.split(" ")),
);

/** The `exporter` mapping: what the exporter dialect, and the nodes' metrics on admin listeners, look like. */
export function exporterSchema(): z.ZodType<ExporterConfig> {
  const naming = "upstream (patroni_*, pg_*) or neutral (ha_*, db_*)";
  const prefix = "the beginning of a metric's name, such as pg: letters, digits and _";
  return section(
    z
      .strictObject(
        {
          naming: z
            .enum(["upstream", "neutral"], { error: naming })
            .default("upstream")
            .describe(`Vocabulary of metric names: ${naming}`),
          disable_intro: flag().default(false).describe("Leave out up, version, in_recovery and the exporter_* group"),
          namespace: z
            .string({ error: prefix })
            .regex(/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/, { error: prefix })
            .nullable()
            .default(null)
            .describe("Prefix of up, version, in_recovery and the exporter_* group. Default: as the naming has it"),
          telemetry_path: telemetryPath()
            .default("/metrics")
            .describe("Path of the metrics on listeners of the exporter dialect"),
        },
        { error: "a mapping of naming, disable_intro, namespace and telemetry_path" },
      )
      .transform(({ disable_intro: disableIntro, telemetry_path, ...said }) => ({
        ...said,
        disableIntro,
        telemetryPath: telemetry_path,
      })),
  );
}

function telemetryPath(): z.ZodType<string, string> {
  const error = "a path such as /metrics: letters, digits, - _ . and /, none of the dialect's other paths";
  return z
    .string({ error })
    .regex(/^(\/[a-zA-Z0-9_-][a-zA-Z0-9_.-]{0,127}){1,8}$/, { error })
    .refine((path) => !taken.has(path), { error });
}
