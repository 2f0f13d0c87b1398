import * as z from "zod";
import type { Frozen } from "../../../core/config/model/config.ts";
import { baseAddress, duration, list, name, section } from "../../../core/config/schema/value-schemas.ts";

/** One entry of `audit.envoys`. */
export const auditedEnvoySchema = z.strictObject(
  {
    name: name().describe("Name of the Envoy in findings, metrics and logs"),
    admin: baseAddress("http://127.0.0.1:9901", [])
      .refine((url) => url.startsWith("http:"), {
        error: "an http address, because Envoy's admin interface has no TLS",
      })
      .describe("Admin interface of the Envoy. rolecall only reads /clusters from it"),
    pools: z
      .record(z.string().min(1).max(256), name(), { error: "a mapping of Envoy's cluster names to pool names" })
      .nullable()
      .default(null)
      .describe("The pool of each Envoy cluster that is audited. Default: those with the name of a pool"),
  },
  { error: "a mapping with the keys name, admin and pools" },
);

/** The `audit` mapping: where traffic really goes. */
const auditMapping = z
  .strictObject(
    {
      interval: duration("0s", "1h")
        .prefault("5s")
        .describe(
          "Time between two looks at each balancer and pooler of the configuration: where its sessions go is compared " +
            "with the verdicts. 0s: never",
        ),
      envoys: list(auditedEnvoySchema, 64).describe("Envoys that are looked at, by their admin interfaces"),
    },
    { error: "a mapping with the keys interval and envoys" },
  )
  .transform(({ interval: intervalMs, envoys }) => ({ intervalMs, envoys }));

/** The key `audit`. */
export const auditSchema = section(auditMapping).describe(
  "Where traffic really goes: balancers and poolers against the verdicts (docs/audit.md)",
);

/** How often balancers and poolers are looked at, and the Envoys among them. */
export type AuditConfig = Frozen<z.output<typeof auditSchema>>;

/** An Envoy that is looked at. */
export type AuditedEnvoy = AuditConfig["envoys"][number];

declare module "../../../core/config/model/config.ts" {
  interface FeatureConfigs {
    readonly audit: AuditConfig;
  }
}
