import * as z from "zod";
import { type ConfigRules, type ConfigSources, type LoadedConfig, loadConfigBy } from "../../config/load.ts";
import type { FindConfiguredFiles } from "../../config/configured-files.ts";
import type { FeatureConfigs } from "../../config/model/config.ts";
import { jsonSchemaOf } from "../../config/schema/json-schema.ts";
import { coreKeys, inCamelCase, wholeError } from "../../config/schema/schema.ts";
import { ConfigKeys } from "../../config/sources/override-keys.ts";
import { checkAudit } from "../../features/audit/config/audit-checks.ts";
import { auditSchema } from "../../features/audit/config/audit-schema.ts";
import { checkFleet } from "../../features/fleet/config/fleet-checks.ts";
import { fleetFiles } from "../../features/fleet/config/fleet-files.ts";
import { completeFleet, fleetSchema } from "../../features/fleet/config/fleet-schema.ts";

/** The keys of the features at the top of the configuration: exactly those that they declare. */
const featureKeys = { fleet: fleetSchema, audit: auditSchema } satisfies {
  readonly [Key in keyof FeatureConfigs]: z.ZodType<FeatureConfigs[Key]>;
};

/** What each feature checks of its part against the rest. */
const checks: ConfigRules["checks"] = { fleet: checkFleet, audit: checkAudit };

/** What completes the part of each feature. */
const completions: ConfigRules["completions"] = [completeFleet];

/** The files that the part of each feature names. */
export const featureFiles: readonly FindConfiguredFiles[] = [fleetFiles];

const { clusters, probe, listen, pools, balancers, poolers, peers, follow, ...rest } = coreKeys;
const before = { clusters, probe, listen, pools, balancers, poolers, peers, follow };

/** All keys, in the order of the references. */
const keys = { ...before, ...featureKeys, ...rest };

/**
 * The schema of the whole configuration. The parser, config/schema.json, and the names of environment variables and
 * `--set` paths are all derived from it.
 */
const configSchema = z.strictObject(keys, wholeError).transform(inCamelCase);

/** The JSON schema of the configuration file. `npm run schema` writes it to config/schema.json. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return jsonSchemaOf(configSchema);
}

/** The keys of the configuration. */
export const configKeys: ConfigKeys = new ConfigKeys(configJsonSchema);

const rules: ConfigRules = { schema: configSchema, keys: configKeys, checks, completions };

/** Reads, merges and checks the configuration of the whole program, as {@link loadConfigBy}. */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  return loadConfigBy(rules, sources);
}
